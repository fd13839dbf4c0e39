/* The state of a caller between its calls that run Python. All tools share it, so a file that a
 * call of one tool has written is there for another tool. */
#pragma once

#include "base/error.h"
#include "environments/executor.h"
#include "server/tools/approval.h"

#include <stdbool.h>

struct tool_caller;
struct working_directory;
struct workplace;

struct python_caller {
    struct executor_client client;                     /* its place in the queue */
    struct recurrence recurrence;                      /* the Pythons that are ready for its next
                                                          call */
    struct working_directory *directories[ISOLATIONS]; /* owned references, for calls with each
                                                          isolation; NULL before the first one */
    bool has_handle[ISOLATIONS]; /* the handle of the directory was told, to a caller that lasts */
    struct approvals approvals;  /* of a caller that lasts */
    json_t *known; /* owned: see known_directories.h; of a caller that lasts; or NULL */
};

/* The state of CALLER, made if there is none. Borrowed. */
struct python_caller *python_caller_of(struct tool_caller *caller);

/* True when CALLER needs the handle of the directory that it has worked in with ISOLATION: a later
 * call may not come to it by itself. If CALLER lasts, this is true only once for each directory. */
bool python_caller_needs_handle(struct tool_caller *caller, enum isolation isolation);

/* The working directory of a call with ISOLATION: the directory HANDLE of an earlier result;
 * without HANDLE the directory that is kept for CALLER, or a new directory if CALLER does not last.
 * New reference. */
struct working_directory *python_caller_open_directory(struct tool_caller *caller,
                                                       struct workplace *workplace,
                                                       enum isolation isolation, const char *handle,
                                                       struct error *err);
