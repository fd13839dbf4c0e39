/* The working directories that a caller has used: what a list of his files is made of.
 *
 * A connection or session knows those of its own calls. Requests that stand alone know those of
 * their principal, unless others come as the same one: then they know none. To know a directory is
 * no right; who has its handle may use it, and each use finds out whose it is. */
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
