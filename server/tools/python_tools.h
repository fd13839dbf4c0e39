/* The tools that run Python. A new one is a line in the table of python_tools.c; what it needs is a
 * definition, as in run_python_definition.h, and a start and a result, as in run_python.c. The rest
 * is python_call.h. */
#pragma once

#include "base/error.h"

struct python_host;
struct registry;

/* Makes a tool as it is with the settings of HOST (borrowed by REGISTRY), and offers it: see
 * tool_offer. */
typedef int (*python_tool_fn)(struct registry *registry, struct python_host *host,
                              struct error *err);

/* Offers all of them, at the start and whenever the settings of HOST have changed. */
int python_tools_offer(struct registry *registry, struct python_host *host, struct error *err);
