/* The tool manage_sessions, for the sessions of run_python. */
#pragma once

#include "base/error.h"

struct python_host;
struct registry;

/* A python_tool_fn. Where there are no sessions, there is no such tool. */
int manage_sessions_offer(struct registry *registry, struct python_host *host, struct error *err);
