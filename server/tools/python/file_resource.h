/* The files in working directories as resources: they are read, in pieces where they are large,
 * listed, and watched.
 *
 * A caller finds what a call of his could: the directories of his principal, by their handles. A
 * configured directory is there for principals that have an environment whose runs may work in it
 * and need no approval. */
#pragma once

#include "base/error.h"

struct invocation;
struct python_host;
struct registry;
struct run_report;
struct tool_caller;
struct working_directory;

/* Registers the template of these resources, and their lister, unless they are there already. */
int file_resource_offer(struct registry *registry, struct python_host *host, struct error *err);

/* The directory HANDLE, if CALLER may look into it. New reference, or NULL. */
struct working_directory *file_resource_directory(struct python_host *host,
                                                  struct tool_caller *caller, const char *handle);

/* Tells the clients that watch the files that a run of CALLER has changed. */
void file_resource_tell(struct python_host *host, const struct tool_caller *caller,
                        const struct run_report *report);
