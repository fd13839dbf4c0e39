#include "server/commands/interruption.h"

#include <signal.h>

enum { STATUS_BASE = 128 };

static const int signals[INTERRUPTION_SIGNALS] = {SIGINT, SIGTERM, SIGHUP};

static void interruption_on_signal(struct ev_loop *loop, struct ev_signal *watcher, int events)
{
    struct interruption *interruption = watcher->data;

    (void)events;
    interruption->signal = watcher->signum;
    ev_break(loop, EVBREAK_ALL);
}

void interruption_start(struct interruption *interruption, struct ev_loop *loop)
{
    *interruption = (struct interruption){.loop = loop};
    for (int i = 0; i < INTERRUPTION_SIGNALS; i++) {
        ev_signal_init(&interruption->watchers[i], interruption_on_signal, signals[i]);
        interruption->watchers[i].data = interruption;
        ev_signal_start(loop, &interruption->watchers[i]);
    }
}

void interruption_stop(struct interruption *interruption)
{
    for (int i = 0; i < INTERRUPTION_SIGNALS; i++)
        ev_signal_stop(interruption->loop, &interruption->watchers[i]);
}

int interruption_status(int number)
{
    return STATUS_BASE + number;
}
