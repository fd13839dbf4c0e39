/* The first line of a TCP connection, before anything is made for it.
 *
 * With an authority the line must be `Authorization: Bearer TOKEN`; it is read into a small buffer,
 * within a time. Without one the first bytes only have to be neither HTTP nor TLS. A refused client
 * is told why, and its input is read until it closes: closing with unread input would take the
 * answer away from it. */
#pragma once

#include "base/buffer.h"
#include "server/transport/identity/authority.h"

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    LOGIN_LINE_BYTES = TOKEN_MOST_BYTES + 128,
};

/* The kind of a TCP client, from the first bytes of its connection.
 *
 * A web page can make a browser send requests to any port of this machine, and can choose the body.
 * Read as lines, such a body would be messages: so the first line decides, and a connection that
 * begins as HTTP or TLS is not read any further. */
enum greeting {
    GREETING_UNDECIDED, /* more bytes are needed */
    GREETING_LINE,      /* neither HTTP nor TLS */
    GREETING_HTTP,
    GREETING_TLS,
};

enum { GREETING_BYTES = 32 }; /* never more than these are needed */

enum greeting greeting_classify(const char *bytes, size_t length);

enum login_state {
    LOGIN_READING,   /* the first line */
    LOGIN_CHECKING,  /* the authority looks at the token */
    LOGIN_LINGERING, /* refused; the client may read the answer */
    LOGIN_OVER,      /* `done` was called */
};

struct login {
    /* Inputs, set before login_start. */
    struct ev_loop *loop;        /* borrowed */
    struct authority *authority; /* borrowed; NULL: no token is needed */
    struct peer peer;
    double seconds; /* for the line, where a token is needed */
    int fd;         /* borrowed; a socket */

    /* The end, called from the loop. ACCEPTED: bytes that were read behind the line are in
     * `received`, and if a token was needed, its owner is in `check.principal`. */
    void (*done)(struct login *login, bool accepted);

    struct buffer received;
    struct authority_check check;

    /* Private. */
    enum login_state state;
    struct ev_io readable;
    struct ev_timer timer;
};

void login_start(struct login *login);

/* No `done` comes any more. May be called twice, and from `done`. */
void login_deinit(struct login *login);
