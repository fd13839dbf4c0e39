/* The default package index of the pip of this machine's own Python. It stands for the pip of a
 * Python that is not believed (base_python.h). */
#pragma once

#include "base/error.h"

struct process_host;
struct subprocess;
struct tool_holding;

/* Starts to ask. NULL: there is no such Python, or ERR says why it cannot be asked.
 * DATA and ENDED: see process/subprocess.h; the output is URLs, or empty where it has no pip. */
struct subprocess *
system_index_ask(struct process_host *host, const struct tool_holding *holding, void *data,
                 void (*ended)(void *data, const char *output, const struct error *err),
                 struct error *err);
