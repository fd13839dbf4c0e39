/* The tool `run_many`: runs one program for many inputs, or many programs, several at a time. It is
 * offered where the operator has `run_many`.
 *
 * Each run is like a run of `run_python`, in the same working directory. A run that fails costs
 * only itself. The first run goes alone, and has the environment and the directory for all. If the
 * server has no place for a later one, or its client may not make it yet, it is tried again. */
#pragma once

#include "base/error.h"

struct python_host;
struct registry;

/* See python_tool_fn. */
int run_many_offer(struct registry *registry, struct python_host *host, struct error *err);
