/* A server that is reached by HTTP (streamable HTTP): each message is a POST, whose response is
 * JSON or a stream of events. Redirections are not followed: the headers are for one server. */
#pragma once

#include "toolbox/link.h"

#include <ev.h>

struct server_settings;
struct transfers;

/* Sends nothing yet. Everything is borrowed until `gone`. NULL with ERR where libcurl cannot be
 * used. */
struct tool_link *http_link_open(struct ev_loop *loop, struct transfers *transfers,
                                 const struct server_settings *settings,
                                 struct link_listener *listener, struct error *err);
