/* Asks a person to approve a run. An approval counts once, and exactly for the text that was shown:
 * if anything has changed when the answer comes, the question is asked again. */
#pragma once

#include "server/tools/python/approval_text.h"

#include <jansson.h>
#include <stdbool.h>

struct invocation;

/* The environments in which calls were approved, for APPROVAL_FIRST. Initialise it with zeros. Its
 * size is limited; the oldest approval is dropped first. */
struct approvals {
    json_t *given; /* owned: an object whose keys say who and where */
};

void approvals_deinit(struct approvals *approvals);

/* True if the script of SUBJECT may run for INVOCATION: it needs no approval, or it was approved.
 * An approval is used up, or stored in APPROVALS for APPROVAL_FIRST. False: the result of
 * INVOCATION is a question to its client, or says why the script does not run. */
bool approval_settle(struct invocation *invocation, const struct approval_subject *subject,
                     struct approvals *approvals);
