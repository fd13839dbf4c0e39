/* A server that is a program of ours: a process tree that reads messages as lines on its standard
 * input and writes them on its standard output. Its own children end with it. */
#pragma once

#include "toolbox/link.h"

#include <ev.h>

struct process_host;
struct server_settings;

/* NULL with ERR when the program cannot be started. HOST and LISTENER are borrowed until `gone`;
 * SETTINGS until this returns, but for its secrets, which are borrowed like HOST. */
struct tool_link *stdio_link_open(struct ev_loop *loop, struct process_host *host,
                                  const struct server_settings *settings,
                                  struct link_listener *listener, struct error *err);
