/* Programs that are started ahead of their code.
 *
 * When the script of a command has ended, the same command is expected again, with other code. So
 * its interpreter is started at once, confined in a tree of its own in every way as it will be
 * then, and waits before it opens its script. The next process with an equal command gets that tree
 * and brings only the code. It shares nothing with the process before but its directory.
 *
 * Their number and their memory are limited. A program that no process has come for ends after a
 * while. If a program cannot be used any more, its process only loses the time of a new start. */
#pragma once

#include "base/buffer.h"
#include "base/list.h"
#include "environments/process/host.h"
#include "environments/process/machine.h"
#include "environments/process/preloads.h"
#include "environments/process/process.h"
#include "environments/process/recurrence.h"

#include <ev.h>
#include <stdbool.h>

/* A command that is expected. */
struct forecast {
    struct list link;            /* in struct forecasts, unless its process runs */
    struct recurrent recurrent;  /* while a process may come for it */
    struct forecasts *forecasts; /* borrowed: the forecasts that have it, or NULL */
    struct buffer job;           /* its CONTROL_RUN, without limits */
    struct process_limits limits;
    struct tree_wish wish;
    char *mark;                /* owned */
    struct preloads *preloads; /* owned: the modules for its zygote; or NULL */
    struct tree *tree;         /* borrowed: the tree it was started in, which owns the forecast */
    double since;              /* CLOCK_MONOTONIC seconds: its start, or the last use of a zygote */
    bool is_alone;             /* it is never started as a copy */
    bool is_zygote;
    bool is_ready;   /* of a zygote: it waits for orders; of a copy: for its code */
    bool has_failed; /* of a zygote: there can be none for this command */
    int copies;      /* of a zygote: how many copies are to wait for their code */
    uint64_t memory; /* of a zygote: bytes of its own, with imported modules */
};

/* The ways to start an expected program. A tree that is made for a forecast owns it; NULL: it
 * cannot be made. */
struct forecast_ways {
    struct tree *(*begin)(struct process_host *host, struct forecast *forecast);
    struct tree *(*nurse)(struct process_host *host, struct forecast *forecast); /* as a zygote */

    /* True when the zygote in NURSERY has imported the modules of PRELOADS, which may be NULL; else
     * it does not wait for orders now. */
    bool (*load)(struct tree *nursery, struct preloads *preloads);

    /* Bytes that the zygote in NURSERY has for itself. */
    uint64_t (*measure)(const struct tree *nursery);

    /* Starts a copy of the zygote in NURSERY. If FORECAST is NULL, it is for a process that has
     * come. */
    struct tree *(*breed)(struct tree *nursery, struct forecast *forecast);

    void (*end)(struct tree *tree);    /* it withdraws its forecast */
    void (*retire)(struct tree *tree); /* the same for a zygote */
};

struct forecasts {
    /* Inputs, set before forecasts_init. */
    struct ev_loop *loop;      /* borrowed */
    struct process_host *host; /* borrowed: for the ways */
    const struct forecast_ways *ways;

    /* Private. */
    struct list expected;  /* of struct forecast, owned */
    struct list started;   /* of struct forecast, owned by their trees; the oldest first */
    struct list nurseries; /* the same; owned if no zygote can be had */
    ev_timer start;
    ev_timer expire;
};

void forecasts_init(struct forecasts *forecasts);

/* Frees the forecasts that have no tree. The others belong to their trees. */
void forecasts_deinit(struct forecasts *forecasts);

/* JOB, the message for COMMAND, which asks for WISH, is copied. Owned by the caller. */
struct forecast *forecast_new(const struct process_command *command, const struct buffer *job,
                              const struct tree_wish *wish);

/* Harmless for NULL, as the next. */
void forecast_free(struct forecast *forecast);

/* From now on no process gets its tree. */
void forecast_withdraw(struct forecast *forecast);

/* FORECAST (taken) is started soon, if a process may still come for it. */
void forecasts_expect(struct forecasts *forecasts, struct forecast *forecast);

/* FORECAST is among the nurseries. If IS_READY, its zygote waits for orders; else there is none,
 * and FORECASTS owns FORECAST from now on, without a tree. */
void forecasts_note_zygote(struct forecasts *forecasts, struct forecast *forecast, bool is_ready);

/* A zygote is no longer among the nurseries, so another may be started. */
void forecasts_look_again(struct forecasts *forecasts);

/* Counts the Pythons that have been started ahead of calls. */
struct process_ahead forecasts_describe(const struct forecasts *forecasts);

/* Takes the tree that has been started for a command equal to FORECAST's, or NULL. */
struct tree *forecasts_take(struct forecasts *forecasts, const struct forecast *forecast);
