/* The working directories that a caller has used: the list of the caller's files is made from them.
 *
 * A connection or session knows the directories of its own calls. Requests that stand alone know
 * the directories of their principal, but if other clients come as the same principal, none. To
 * know a directory is no right: each use checks that the handle belongs to the caller. */
#pragma once

#include <jansson.h>

struct python_host;
struct tool_caller;

/* CALLER has used the directory HANDLE. */
void known_directories_note(struct python_host *host, struct tool_caller *caller,
                            const char *handle);

/* The handles of the directories that CALLER has used, the last one first: an array of at most a
 * fixed number. New reference. */
json_t *known_directories(struct python_host *host, struct tool_caller *caller);
