/* The members of the log's event for a call that runs Python, in addition to the members for every
 * call. */
#pragma once

#include <jansson.h>

struct invocation;
struct python_request;
struct run_setting;

/* Notes the run of INVOCATION in SETTING: the digest of the code, but not the code. */
void run_account_begin(struct invocation *invocation, const struct python_request *request,
                       const struct run_setting *setting);

/* Notes how it ended, from STRUCTURED, the result. */
void run_account_end(struct invocation *invocation, const json_t *structured);
