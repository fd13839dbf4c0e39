/* What is kept for a caller between its calls that run Python. All tools share it: a file that one
 * of them has written is there for the next. */
#pragma once

#include "base/error.h"
#include "environments/executor.h"
#include "server/tools/approval.h"

struct tool_caller;
struct working_directory;
struct workplace;

struct python_caller {
    struct executor_client client;       /* its place in the queue */
    struct working_directory *directory; /* owned reference; NULL before the first call */
    struct approvals approvals;          /* of a caller that lasts */
};

/* That of CALLER, which releases it when it goes. Borrowed. */
struct python_caller *python_caller_of(struct tool_caller *caller);

/* Where a call of CALLER works: in the directory HANDLE of an earlier result; where HANDLE is NULL
 * in the one that is kept for the caller, made at its first call; or in a new one, for a caller
 * that does not last. New reference. */
struct working_directory *python_caller_open_directory(struct tool_caller *caller,
                                                       struct workplace *workplace,
                                                       const char *handle, struct error *err);
