/* The tool `run_code_blocks`: runs the code blocks of a message one after the other, as AutoGen's
 * command line executors do. It is offered where the operator has `code_blocks`.
 *
 * Each block is a run of its own, like a run of `run_python`, in the same working directory. If a
 * block fails, it is the last. A block for a shell or Node is started by a short Python program. */
#pragma once

#include "base/error.h"

struct python_host;
struct registry;

/* See python_tool_fn. */
int run_code_blocks_offer(struct registry *registry, struct python_host *host, struct error *err);
