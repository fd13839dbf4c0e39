/* What the log says of a call that runs Python, beside what it says of every call. */
#pragma once

#include <jansson.h>

struct invocation;
struct python_request;
struct run_setting;

/* The log says what INVOCATION was to run, in SETTING: which code, but not the code. */
void run_account_begin(struct invocation *invocation, const struct python_request *request,
                       const struct run_setting *setting);

/* The log says how it ended, as STRUCTURED, which is the result. */
void run_account_end(struct invocation *invocation, const json_t *structured);
