/* Forecasts: commands that are expected again, with other code.
 *
 * When the script of a command has ended, its Python is started again at once, confined in a tree
 * of its own in every way as it will be then, and waits before it opens its script. The next
 * process with an equal command gets that tree and brings only the code. It shares nothing with the
 * process before but its directory. The Python is the worker of a zygote or, if there can be no
 * zygote, started alone.
 *
 * How many wait, and until when, is in waiting.h. If a Python cannot be used any more, its process
 * only loses the time of a new start. */
#pragma once

#include "base/buffer.h"
#include "base/list.h"
#include "environments/process/host.h"
#include "environments/process/machine.h"
#include "environments/process/preloads.h"
#include "environments/process/process.h"
#include "environments/process/recurrence.h"
#include "environments/process/waiting.h"

#include <ev.h>
#include <stdbool.h>

struct forecast {
    struct list link;            /* in its forecasts */
    struct forecasts *forecasts; /* borrowed */
    unsigned holders;            /* trees, and itself while it is due */
    struct recurrent recurrent;  /* while a process may come for it: of the latest user */
    struct buffer job;           /* its CONTROL_RUN, without limits */
    struct process_limits limits;
    struct tree_wish wish;
    char *mark;                 /* owned */
    struct preloads *preloads;  /* owned: the modules for its zygote; or NULL */
    bool is_alone;              /* it gets no zygote */
    bool is_due;                /* Pythons are to be started */
    struct expectation zygote;  /* closed: there can be none */
    struct expectation pythons; /* in which code is to run */
};

/* The ways to start and to end what waits for a forecast. */
struct forecast_ways {
    struct waiting_rules zygotes;
    struct waiting_rules pythons;

    /* True when ZYGOTE has imported the modules of PRELOADS, or PRELOADS is NULL; else it imports
     * one of them, and takes orders meanwhile. */
    bool (*load)(struct waiting *zygote, struct preloads *preloads);
};

struct forecasts {
    /* Inputs, set before forecasts_init. */
    struct ev_loop *loop;      /* borrowed */
    struct process_host *host; /* borrowed: for the ways */
    const struct forecast_ways *ways;

    /* Private. */
    struct list all;
    struct waiting_room zygotes; /* ready: they wait for orders */
    struct waiting_room pythons; /* ready: workers that wait for their code */
    ev_timer start;
    ev_timer expire;
};

void forecasts_init(struct forecasts *forecasts);

/* No tree is left. */
void forecasts_deinit(struct forecasts *forecasts);

/* The forecast of COMMAND, held. JOB, its message, is copied; the command asks for WISH. */
struct forecast *forecasts_hold(struct forecasts *forecasts, const struct process_command *command,
                                const struct buffer *job, const struct tree_wish *wish);

/* Adds a holder. Returns FORECAST. */
struct forecast *forecast_hold(struct forecast *forecast);

/* Harmless for NULL. */
void forecast_drop(struct forecast *forecast);

/* Pythons are started for FORECAST soon, if a process may still come for them. One hold is taken.
 */
void forecast_expect(struct forecast *forecast);

/* The zygote of FORECAST that waits for orders, borrowed, or NULL. */
struct waiting *forecast_zygote(const struct forecast *forecast);

/* A Python that has been started for FORECAST, or NULL. */
struct waiting *forecast_take(struct forecast *forecast);

/* ZYGOTE, with MEMORY, waits for orders. */
void forecasts_note_zygote(struct forecasts *forecasts, struct waiting *zygote, uint64_t memory);

/* A zygote is no longer there, so what is due may be started in another way. */
void forecasts_look_again(struct forecasts *forecasts);

/* Counts what waits. */
struct process_ahead forecasts_describe(const struct forecasts *forecasts);
