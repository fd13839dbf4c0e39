#include "environments/interpreter/python_finder.h"

#include "base/list.h"
#include "base/memory.h"
#include "base/state.h"
#include "environments/interpreter/python_version.h"

#include <stdlib.h>
#include <string.h>

enum { FOUND_BYTES = 1000 }; /* of the list in an error */

static const struct state python_finder_states[] = {
    [PYTHON_FINDER_IDLE] = {"idle", 1 << PYTHON_FINDER_TURN},
    [PYTHON_FINDER_TURN] = {"turn", 1 << PYTHON_FINDER_TURN | 1 << PYTHON_FINDER_ASKING |
                                        1 << PYTHON_FINDER_IDLE},
    [PYTHON_FINDER_ASKING] = {"asking", 1 << PYTHON_FINDER_TURN | 1 << PYTHON_FINDER_IDLE},
};

static void python_finder_set_state(struct python_finder *finder, enum python_finder_state state)
{
    state_change(python_finder_states, finder->state, state, "finding python %s", finder->version);
    finder->state = state;
    if (state == PYTHON_FINDER_TURN)
        ev_timer_start(finder->loop, &finder->next);
    else
        ev_timer_stop(finder->loop, &finder->next);
}

static int python_finder_fail_not_found(const struct python_finder *finder, struct error *err)
{
    if (!*finder->found)
        return error_set(err, ERROR_UNAVAILABLE, "there is no Python on this machine");
    return error_set(err, ERROR_UNAVAILABLE, "there is no Python %s on this machine; found: %s",
                     finder->version, finder->found);
}

static void note_other(struct python_finder *finder)
{
    const struct interpreter *other = &finder->interpreter;
    char *longer = memory_format("%s%s%s (%s)", finder->found, *finder->found ? ", " : "",
                                 other->version, other->executable);

    if (strlen(longer) <= FOUND_BYTES && !strstr(finder->found, other->executable)) {
        free(finder->found);
        finder->found = longer;
    } else {
        free(longer);
    }
}

static void python_finder_finish(struct python_finder *finder, const struct error *err)
{
    python_finder_set_state(finder, PYTHON_FINDER_IDLE);
    finder->done(finder, err);
}

static void python_finder_on_answered(struct interpreter *interpreter, const struct error *err)
{
    struct python_finder *finder = CONTAINER_OF(interpreter, struct python_finder, interpreter);

    if (!err && python_version_fits(finder->version, interpreter->version)) {
        python_finder_finish(finder, NULL);
        return;
    }
    if (!err)
        note_other(finder);
    python_finder_set_state(finder, PYTHON_FINDER_TURN);
}

/* Called from the loop, so that calls do not nest. */
static void python_finder_on_next(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct python_finder *finder = CONTAINER_OF(timer, struct python_finder, next);
    struct error_rest rest;
    struct error err = ERROR_INIT_LONG(&rest);

    (void)events;
    interpreter_deinit(&finder->interpreter);
    if (finder->position == finder->places.count) {
        python_finder_fail_not_found(finder, &err);
        python_finder_finish(finder, &err);
        return;
    }
    interpreter_init(&finder->interpreter, loop, finder->host,
                     finder->places.paths[finder->position++]);
    finder->interpreter.holding = finder->holding;
    finder->interpreter.done = python_finder_on_answered;
    if (interpreter_resolve(&finder->interpreter, &err) == OUTCOME_PENDING)
        python_finder_set_state(finder, PYTHON_FINDER_ASKING);
    else
        python_finder_set_state(finder, PYTHON_FINDER_TURN); /* it went away; the next one */
}

void python_finder_init(struct python_finder *finder, struct ev_loop *loop,
                        struct process_host *host, const char *version)
{
    *finder = (struct python_finder){
        .loop = loop,
        .host = host,
        .version = memory_copy_string(version),
    };
    ev_timer_init(&finder->next, python_finder_on_next, 0., 0.);
}

void python_finder_cancel(struct python_finder *finder)
{
    if (finder->state != PYTHON_FINDER_IDLE)
        python_finder_set_state(finder, PYTHON_FINDER_IDLE);
    interpreter_deinit(&finder->interpreter);
}

void python_finder_deinit(struct python_finder *finder)
{
    python_finder_cancel(finder);
    python_places_deinit(&finder->places);
    free(finder->found);
    free(finder->version);
    finder->found = NULL;
    finder->version = NULL;
}

void python_finder_start(struct python_finder *finder)
{
    python_places_deinit(&finder->places);
    python_places_find(&finder->places, finder->version);
    free(finder->found);
    finder->found = memory_copy_string("");
    finder->position = 0;
    python_finder_set_state(finder, PYTHON_FINDER_TURN);
}
