/* A person's agreement to a run: asked for by the call, and given once. What was shown is what
 * runs: the question is asked anew when anything in it is different by the time of the answer. */
#pragma once

#include "server/tools/approval_text.h"

#include <jansson.h>
#include <stdbool.h>

struct invocation;

/* In which environments somebody's calls have been agreed to, for APPROVAL_FIRST. Zeroed memory is
 * one; it forgets the oldest when there are too many. */
struct approvals {
    json_t *given; /* owned: an object whose keys say who and where */
};

void approvals_deinit(struct approvals *approvals);

/* True when the script of SUBJECT may run for INVOCATION: no approval is needed, or it was given,
 * which uses it up, or for APPROVAL_FIRST goes to APPROVALS. False: the call is over; its client is
 * asked, or the result says why the script does not run. */
bool approval_settle(struct invocation *invocation, const struct approval_subject *subject,
                     struct approvals *approvals);
