#include "server/transport/notify.h"

#include "base/clock.h"
#include "base/list.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECONDS_PER_MICROSECOND 1e-6

/* A path, or "@name" in the abstract namespace. */
static bool parse_manager(const char *text, struct endpoint *ret)
{
    struct endpoint endpoint = {.local.sun_family = AF_UNIX};
    size_t length = text ? strlen(text) : 0;

    if (length < 2 || length >= sizeof(endpoint.local.sun_path) ||
        (text[0] != '/' && text[0] != '@'))
        return false;
    memcpy(endpoint.local.sun_path, text, length);
    endpoint.length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    if (text[0] == '@')
        endpoint.local.sun_path[0] = '\0';
    else
        endpoint.length++; /* the NUL */
    *ret = endpoint;
    return true;
}

static bool is_for_us(const char *pid)
{
    return !pid || strtol(pid, NULL, 10) == (long)getpid();
}

/* Half of the watchdog's time limit, as sd_watchdog_enabled(3) recommends; or 0. */
static double watchdog_interval(void)
{
    const char *text = getenv("WATCHDOG_USEC");

    if (!text || !is_for_us(getenv("WATCHDOG_PID")))
        return 0;
    return (double)strtoul(text, NULL, 10) * SECONDS_PER_MICROSECOND / 2;
}

static void notify_on_watchdog(struct ev_loop *loop, struct ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    notify_send(CONTAINER_OF(timer, struct notify, watchdog), "WATCHDOG=1");
}

void notify_init_silent(struct notify *notify, struct ev_loop *loop)
{
    *notify = (struct notify){.fd = -1, .loop = loop};
    ev_timer_init(&notify->watchdog, notify_on_watchdog, 0, 0);
}

void notify_init(struct notify *notify, struct ev_loop *loop)
{
    double interval = watchdog_interval();

    notify_init_silent(notify, loop);
    ev_timer_set(&notify->watchdog, interval, interval);
    if (parse_manager(getenv("NOTIFY_SOCKET"), &notify->manager)) {
        notify->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (interval > 0)
            ev_timer_start(loop, &notify->watchdog);
    }
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
}

void notify_deinit(struct notify *notify)
{
    ev_timer_stop(notify->loop, &notify->watchdog);
    if (notify->fd >= 0)
        close(notify->fd);
    notify->fd = -1;
}

void notify_send(struct notify *notify, const char *state)
{
    if (notify->fd >= 0)
        (void)sendto(notify->fd, state, strlen(state), MSG_DONTWAIT | MSG_NOSIGNAL,
                     &notify->manager.any, notify->manager.length);
}

/* The time lets the manager tell this message from the message of an earlier reload. */
void notify_reloading(struct notify *notify)
{
    char state[64];

    snprintf(state, sizeof state, "RELOADING=1\nMONOTONIC_USEC=%.0f",
             clock_seconds() / SECONDS_PER_MICROSECOND);
    notify_send(notify, state);
}
