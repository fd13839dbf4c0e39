/* The tools that run Python. A new one is a line in the table of python_tools.c; what it needs is
 *
 *     its definition   as run_python_offer(), with the arguments of python_arguments.h
 *     its start        as run_python_start(): a request for python_call_start()
 *     its result       as run_python_on_done()
 */
#pragma once

#include "base/error.h"

struct python_host;
struct registry;

/* Makes a tool from the settings of HOST (borrowed by REGISTRY) and passes it to tool_offer. */
typedef int (*python_tool_fn)(struct registry *registry, struct python_host *host,
                              struct error *err);

/* Offers all of them: at the start, and whenever the settings of HOST have changed. */
int python_tools_offer(struct registry *registry, struct python_host *host, struct error *err);
