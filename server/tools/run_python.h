/* The tool `run_python`: runs a Python program and returns its output. */
#pragma once

#include "base/error.h"

struct python_host;
struct registry;

/* See python_tool_fn. */
int run_python_offer(struct registry *registry, struct python_host *host, struct error *err);
