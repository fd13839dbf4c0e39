/* What the log says about a call that runs Python, in addition to what it says about every call. */
#pragma once

#include <jansson.h>

struct invocation;
struct python_request;
struct run_setting;

/* Notes what INVOCATION is to run in SETTING: the digest of the code, but not the code. */
void run_account_begin(struct invocation *invocation, const struct python_request *request,
                       const struct run_setting *setting);

/* Notes how it ended, from STRUCTURED, the result. */
void run_account_end(struct invocation *invocation, const json_t *structured);
