/* The states of a session, and the one function that changes them. */
#include "base/log.h"
#include "environments/notebook/notebook_private.h"

#include <assert.h>

static const char *const notebook_state_names[] = {
    [NOTEBOOK_RESTING] = "resting",          [NOTEBOOK_PREPARING] = "preparing",
    [NOTEBOOK_STARTING] = "starting",        [NOTEBOOK_LOOKING] = "looking",
    [NOTEBOOK_WORKING] = "working",          [NOTEBOOK_INTERRUPTED] = "interrupted",
    [NOTEBOOK_STOPPING] = "stopping",        [NOTEBOOK_LISTING] = "listing files",
    [NOTEBOOK_SHOWING] = "reading pictures",
};

/* The states that may follow each state, as bits. */
static const unsigned notebook_next_states[] = {
    [NOTEBOOK_RESTING] = 1 << NOTEBOOK_PREPARING | 1 << NOTEBOOK_STARTING | 1 << NOTEBOOK_LOOKING |
                         1 << NOTEBOOK_RESTING,
    [NOTEBOOK_PREPARING] = 1 << NOTEBOOK_STARTING | 1 << NOTEBOOK_LOOKING | 1 << NOTEBOOK_RESTING,
    [NOTEBOOK_STARTING] = 1 << NOTEBOOK_LOOKING | 1 << NOTEBOOK_RESTING,
    [NOTEBOOK_LOOKING] = 1 << NOTEBOOK_WORKING | 1 << NOTEBOOK_RESTING,
    [NOTEBOOK_WORKING] = 1 << NOTEBOOK_INTERRUPTED | 1 << NOTEBOOK_STOPPING |
                         1 << NOTEBOOK_LISTING | 1 << NOTEBOOK_RESTING,
    [NOTEBOOK_INTERRUPTED] = 1 << NOTEBOOK_STOPPING | 1 << NOTEBOOK_LISTING | 1 << NOTEBOOK_RESTING,
    [NOTEBOOK_STOPPING] = 1 << NOTEBOOK_LISTING | 1 << NOTEBOOK_RESTING,
    [NOTEBOOK_LISTING] = 1 << NOTEBOOK_SHOWING | 1 << NOTEBOOK_RESTING,
    [NOTEBOOK_SHOWING] = 1 << NOTEBOOK_RESTING,
};

void notebook_start_deadline(struct notebook *notebook, double seconds)
{
    ev_timer_stop(notebook->loop, &notebook->deadline);
    ev_now_update(notebook->loop);
    ev_timer_set(&notebook->deadline, seconds, 0.);
    ev_timer_start(notebook->loop, &notebook->deadline);
}

void notebook_start_idle(struct notebook *notebook)
{
    ev_timer_set(&notebook->idle, notebook->idle_seconds, 0.);
    ev_timer_start(notebook->loop, &notebook->idle);
}

void notebook_set_state(struct notebook *notebook, enum notebook_state state)
{
    assert(notebook_next_states[notebook->state] & 1U << state);
    log_debug("session %.4s: %s -> %s", notebook->handle, notebook_state_names[notebook->state],
              notebook_state_names[state]);
    notebook->state = state;
    ev_timer_stop(notebook->loop, &notebook->deadline);
    if (state == NOTEBOOK_WORKING)
        notebook_start_deadline(notebook, notebook_current(notebook)->request.timeout);
    if (state == NOTEBOOK_INTERRUPTED)
        notebook_start_deadline(notebook, NOTEBOOK_GRACE_SECONDS);
    ev_timer_stop(notebook->loop, &notebook->idle);
    if (state == NOTEBOOK_RESTING && !notebook->is_closed)
        notebook_start_idle(notebook);
}

void notebook_schedule(struct notebook *notebook)
{
    if (!ev_is_active(&notebook->next))
        ev_timer_start(notebook->loop, &notebook->next);
}

struct cell *notebook_current(const struct notebook *notebook)
{
    if (notebook->state == NOTEBOOK_RESTING || list_is_empty(&notebook->cells))
        return NULL;
    return CONTAINER_OF(notebook->cells.next, struct cell, link);
}
