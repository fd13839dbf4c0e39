/* The prompt `code_writer`: how to solve a task with run_python, in this server's environments. It
 * is what AutoGen and AG2 put into the system message of an agent that writes code. */
#pragma once

#include "base/error.h"

struct python_host;
struct registry;

#define CODE_WRITER_NAME "code_writer"

/* Registers the prompt for HOST (borrowed), whose settings at the time are what it tells. */
int code_writer_register(struct registry *registry, struct python_host *host, struct error *err);
