/* The costs of a node: how long its start, a word to it and back, and many of them take. */
#pragma once

#include "environments/nodes/node_pool.h"

#include <stddef.h>

struct node_survey {
    /* Inputs. */
    struct ev_loop *loop;                                       /* borrowed */
    void (*step)(struct node_survey *survey, const char *text); /* the reason why it waits */
    void (*over)(struct node_survey *survey);                   /* the last thing that is called */

    char *fault;   /* owned: why there is no node, or no more; or NULL */
    json_t *title; /* owned: its name, as results have it; or NULL */
    double start_seconds;
    double trip_seconds;
    double bytes_per_second; /* there and back */

    /* Private. */
    struct node_stay stay;
    double began; /* monotonic seconds: the present part */
    unsigned trips;
    size_t sent;
    size_t echoed;
    ev_timer patience; /* with a node that says nothing back */
};

/* A node of POOL is started, unless one is free. `over` is not called from inside. */
void node_survey_begin(struct node_survey *survey, struct node_pool *pool);

/* Leaves its node, if it has one still. */
void node_survey_deinit(struct node_survey *survey);
