/* The state of a caller between its calls that run Python. All tools share it, so a file that a
 * call of one tool has written is there for another tool. */
#pragma once

#include "base/error.h"
#include "environments/executor.h"
#include "server/tools/python/approval.h"

#include <jansson.h>
#include <stdbool.h>

struct python_host;
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
    json_t *known; /* owned: see known_directories(); of a caller that lasts; or NULL */
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

/* The directories that a caller has used: the list of the caller's files is made from them.
 *
 * A connection or session knows the directories of its own calls. Requests that stand alone know
 * the directories of their principal, but if other clients come as the same principal, none. To
 * know a directory is no right: each use checks that the handle belongs to the caller. */

/* CALLER has used the directory HANDLE. */
void known_directories_note(struct python_host *host, struct tool_caller *caller,
                            const char *handle);

/* The handles of the directories that CALLER has used, the last one first: an array of at most a
 * fixed number. New reference. */
json_t *known_directories(struct python_host *host, struct tool_caller *caller);
