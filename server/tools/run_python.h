/* The tool `run_python`: a Python program in, what it printed out. */
#pragma once

#include "base/error.h"

struct python_host;
struct registry;

/* See python_tool_fn. */
int run_python_offer(struct registry *registry, struct python_host *host, struct error *err);
