/* Programs that are started ahead of their code.
 *
 * When the script of a command has ended, the same command is expected again, with other code. So
 * its interpreter is started at once, in a tree of its own that holds it in every way as it would
 * then, and waits before it opens its script. The next process with an equal command gets that
 * tree: only the code was missing. It shares nothing with the process before but its directory.
 *
 * There are a few of them at most, and with a bound on their memory; those that nobody has come for
 * end after a while. One that
 * cannot serve any more costs its process nothing but the time to start anew. */
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
    struct recurrent recurrent;  /* while somebody is going to come for it */
    struct forecasts *forecasts; /* borrowed: those that it is among, or NULL */
    struct buffer job;           /* its CONTROL_RUN, without limits */
    struct process_limits limits;
    struct tree_wish wish;
    char *mark;                /* owned */
    struct preloads *preloads; /* owned: what its zygote is to import; or NULL */
    struct tree *tree;         /* borrowed: it has been started in that; it owns the forecast */
    double since;              /* CLOCK_MONOTONIC seconds: when it was, or a zygote was used */
    bool is_alone;             /* it is never started as a copy */
    bool is_zygote;
    bool is_ready;   /* of a zygote: it waits for orders; of a copy: for its code */
    bool has_failed; /* of a zygote: there can be none for this command */
    int copies;      /* likewise: how many are to wait for their code */
    uint64_t memory; /* likewise: bytes of its own, with what it has imported */
};

/* How what is expected is started. A tree that is made for a forecast owns it; NULL: that cannot be
 * done. */
struct forecast_ways {
    struct tree *(*begin)(struct process_host *host, struct forecast *forecast);
    struct tree *(*nurse)(struct process_host *host, struct forecast *forecast); /* as a zygote */

    /* True when the zygote in NURSERY has imported what it is to have; else it does not wait for
     * orders any more. PRELOADS may be NULL. */
    bool (*load)(struct tree *nursery, struct preloads *preloads);

    /* Bytes that the zygote in NURSERY has for itself. */
    uint64_t (*measure)(const struct tree *nursery);

    /* As a copy of the zygote in NURSERY; where FORECAST is NULL, for a process that has come. */
    struct tree *(*breed)(struct tree *nursery, struct forecast *forecast);

    void (*end)(struct tree *tree);    /* which withdraws its forecast */
    void (*retire)(struct tree *tree); /* likewise, of a zygote */
};

struct forecasts {
    /* Inputs, set before forecasts_init. */
    struct ev_loop *loop;      /* borrowed */
    struct process_host *host; /* borrowed: for the ways */
    const struct forecast_ways *ways;

    /* Private. */
    struct list expected;  /* of struct forecast, owned */
    struct list started;   /* likewise, owned by their trees; the oldest first */
    struct list nurseries; /* likewise, or owned: those for which zygotes can not be had */
    ev_timer start;
    ev_timer expire;
};

void forecasts_init(struct forecasts *forecasts);

/* Forgets what is expected. What has been started belongs to its tree. */
void forecasts_deinit(struct forecasts *forecasts);

/* JOB is copied: the message for COMMAND, which asks for WISH. Owned by the caller. */
struct forecast *forecast_new(const struct process_command *command, const struct buffer *job,
                              const struct tree_wish *wish);

/* Harmless for NULL, as the next. */
void forecast_free(struct forecast *forecast);

/* Nobody gets its tree from now on. */
void forecast_withdraw(struct forecast *forecast);

/* FORECAST (taken) is started soon, if somebody is still going to come for it. */
void forecasts_expect(struct forecasts *forecasts, struct forecast *forecast);

/* The zygote of FORECAST, which is among the nurseries, waits for orders; or there is none, and
 * FORECAST belongs to FORECASTS from now on, without a tree. */
void forecasts_note_zygote(struct forecasts *forecasts, struct forecast *forecast, bool is_ready);

/* A zygote is no longer among the nurseries: another one may be started. */
void forecasts_look_again(struct forecasts *forecasts);

/* What there is ahead of calls. */
struct process_ahead forecasts_describe(const struct forecasts *forecasts);

/* The tree that has been started for a command as FORECAST has it, or NULL. It is not given to
 * anybody else. */
struct tree *forecasts_take(struct forecasts *forecasts, const struct forecast *forecast);
