/* The rules for what waits for code or a command: prepared trees, zygotes, Pythons and containers
 * that are started before they are asked for.
 *
 * Each of them is made for an expectation. A waiting room says how many wait, which of them gives
 * way to another, until when they wait, and when a maker that failed is asked again. It knows
 * neither processes nor engines, and is told the time: CLOCK_MONOTONIC seconds. */
#pragma once

#include "base/list.h"

#include <stdbool.h>
#include <stdint.h>

#define WAITING_SECONDS       300. /* after which nobody is expected to come back */
#define WAITING_QUIET_SECONDS 30.  /* after which one is enough for an expectation */
#define WAITING_PAUSE_SECONDS                                                                      \
    1. /* until a maker that failed is asked again, twice as long each time */
#define WAITING_PAUSE_MOST 60. /* seconds */

/* In a full room nothing gives way sooner. Where more are expected than have room, each would end
 * what another one had just begun, and nothing would ever be ready. */
#define WAITING_YOUNG_SECONDS 2.

enum { WAITING_EQUAL = 4 }; /* for one expectation, at most */

/* Embedded in the description of what is expected. */
struct expectation {
    unsigned wanted;     /* how many are to wait */
    double used;         /* when one was taken last */
    double pause;        /* seconds, since the last failure; 0: the last one was of use */
    double closed_until; /* none is made before */
};

/* Embedded in the waiting thing. */
struct waiting {
    struct list link;                /* in its room, until it is taken, withdrawn or ended */
    struct expectation *expectation; /* borrowed; NULL: what it was made for has changed */
    double since;                    /* its start, or its last use */
    uint64_t memory;                 /* bytes that count for the room */
    bool is_ready;                   /* else it is being made, or has something else to do */
};

struct waiting_rules {
    unsigned most;   /* in the room; then the oldest gives way */
    uint64_t memory; /* bytes of all in the room; 0: any */

    /* Begins to make one; NULL: this is impossible now. */
    struct waiting *(*make)(struct expectation *expectation);

    /* Ends WAITING, which has left the room. */
    void (*end)(struct waiting *waiting);
};

struct waiting_room {
    const struct waiting_rules *rules; /* borrowed */
    struct list list;                  /* of struct waiting, borrowed: the oldest first */
};

struct waiting_sum {
    unsigned count;
    uint64_t memory;
};

void waiting_room_init(struct waiting_room *room, const struct waiting_rules *rules);

struct waiting_sum waiting_room_sum(const struct waiting_room *room);

/* How many wait for EXPECTATION. */
unsigned waiting_room_count(const struct waiting_room *room, const struct expectation *expectation);

/* The oldest for EXPECTATION, borrowed, or NULL. */
struct waiting *waiting_room_find(const struct waiting_room *room,
                                  const struct expectation *expectation);

/* The same, and it leaves the room. */
struct waiting *waiting_room_take(struct waiting_room *room, struct expectation *expectation,
                                  double now);

/* Makes as many as are wanted. False: not all can be made now. */
bool waiting_room_restock(struct waiting_room *room, struct expectation *expectation, double now);

/* WAITING is used, and stays: it becomes the latest of its room. */
void waiting_room_use(struct waiting_room *room, struct waiting *waiting, double now);

/* Ends the oldest, except LATEST, until MORE fit into the room. */
void waiting_room_bound(struct waiting_room *room, const struct waiting *latest, unsigned more);

/* Ends everything for which nobody came in time. False: the room is empty. */
bool waiting_room_expire(struct waiting_room *room, double now);

/* Ends everything that waits for EXPECTATION. */
void waiting_room_end(struct waiting_room *room, const struct expectation *expectation);

/* Somebody came before one was ready: more are wanted. */
void expectation_raise(struct expectation *expectation);

/* A maker has failed, or its product: the pause is short at first, as a machine may be busy for a
 * moment. */
void expectation_close(struct expectation *expectation, double now);

/* EXPECTATION has been of use: the next failure has a short pause again. */
void expectation_open(struct expectation *expectation);

void waiting_init(struct waiting *waiting);

/* WAITING cannot be used any more; harmless if it is in no room. */
void waiting_withdraw(struct waiting *waiting);
