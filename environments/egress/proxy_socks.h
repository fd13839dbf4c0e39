/* The first bytes that a program sends to a SOCKS proxy of version 5 (RFC 1928): pure functions. */
#pragma once

#include "environments/egress/destination.h"

#include <sys/types.h>

enum { PROXY_SOCKS_VERSION = 5 };

enum proxy_socks_reply {
    PROXY_SOCKS_DONE = 0,
    PROXY_SOCKS_FAILED = 1,
    PROXY_SOCKS_CLOSED = 2, /* "connection not allowed by ruleset" */
    PROXY_SOCKS_UNREACHABLE = 4,
    PROXY_SOCKS_NO_COMMAND = 7,
    PROXY_SOCKS_NO_ADDRESS = 8,
};

/* How many of the LENGTH bytes are a greeting of a program that need not log in; 0: it needs more;
 * -1: they are no such greeting. */
ssize_t proxy_socks_parse_greeting(const char *bytes, size_t length);

/* The same for the request behind it, for a connection to RET. -1: the program cannot have it, and
 * *RET_REPLY is the reason. */
ssize_t proxy_socks_parse_request(const char *bytes, size_t length, struct destination *ret,
                                  enum proxy_socks_reply *ret_reply);
