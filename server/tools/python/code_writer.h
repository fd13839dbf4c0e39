/* The prompt `code_writer`: tells a model how to solve a task with run_python in this server's
 * environments. AutoGen and AG2 put such a text into the system message of an agent that writes
 * code. */
#pragma once

#include "base/error.h"

struct python_host;
struct registry;

#define CODE_WRITER_NAME "code_writer"

/* Registers the prompt. Its text is made from the current settings of HOST (borrowed). */
int code_writer_register(struct registry *registry, struct python_host *host, struct error *err);
