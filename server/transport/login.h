/* The first line of a TCP connection, before anything is made for it.
 *
 * With a token the line must be `Authorization: Bearer TOKEN`; it is read into a small buffer,
 * within a time. Without one the first bytes only have to be neither HTTP nor TLS. Whoever is
 * refused is told why and then read from until it closes, since closing with unread input would
 * take the answer away from it. Bad tokens in a row are answered late. */
#pragma once

#include "base/buffer.h"
#include "server/transport/token.h"

#include <ev.h>
#include <stdbool.h>

enum {
    LOGIN_LINE_BYTES = TOKEN_BYTES + 128,
};

enum login_state {
    LOGIN_READING,   /* the first line */
    LOGIN_DELAYING,  /* before a bad token is answered */
    LOGIN_LINGERING, /* refused; the client may read that */
    LOGIN_OVER,      /* `done` was called */
};

/* The bad tokens of all clients in the current minute. */
struct login_failures {
    ev_tstamp since;
    unsigned count;
};

struct login {
    /* Inputs, set before login_start. */
    struct ev_loop *loop;            /* borrowed */
    const struct token *token;       /* borrowed; NULL: none is needed */
    struct login_failures *failures; /* borrowed */
    double seconds;                  /* for the line, where a token is needed */
    int fd;                          /* borrowed; a socket */

    /* The end, called from the loop. ACCEPTED: what was read behind the line is in `received`. */
    void (*done)(struct login *login, bool accepted);

    struct buffer received;

    /* Private. */
    enum login_state state;
    struct ev_io readable;
    struct ev_timer timer;
};

void login_start(struct login *login);

/* No `done` comes any more. May be called twice, and from `done`. */
void login_deinit(struct login *login);
