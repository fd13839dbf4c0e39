/* Notifies the service manager of our state: sd_notify(3) without libsystemd. */
#pragma once

#include "base/error.h"
#include "server/transport/socket/address.h"

#include <ev.h>

struct notify {
    int fd; /* owned; -1: nobody wants to know */
    struct endpoint manager;
    struct ev_loop *loop;     /* borrowed */
    struct ev_timer watchdog; /* running where the manager wants signs of life */
};

/* Reads NOTIFY_SOCKET and WATCHDOG_USEC and removes them from the environment. A manager that
 * cannot be told anything is no error. */
void notify_init(struct notify *notify, struct ev_loop *loop);

/* Nobody is told anything, and the environment stays as it is. */
void notify_init_silent(struct notify *notify, struct ev_loop *loop);
void notify_deinit(struct notify *notify);

/* Sends STATE, lines of "NAME=value". */
void notify_send(struct notify *notify, const char *state);

/* Says that the configuration is read again; READY=1 is to follow. */
void notify_reloading(struct notify *notify);
