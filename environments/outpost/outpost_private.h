/* The parts of an outpost (outpost.c), its environments (outpost_place.c) and its conversations
 * (outpost_visit.c). */
#pragma once

#include "base/list.h"
#include "environments/nodes/node_message.h"
#include "environments/nodes/node_wire.h"
#include "environments/outpost/outpost.h"
#include "environments/process/recurrence.h"

struct outpost {
    struct outpost_settings settings;
    struct node_wire wire;
    struct process_host *host;    /* owned; NULL before the server's hello */
    struct workplace *workplace;  /* owned: of copies; NULL: both have the same directories */
    ev_prepare trying;            /* until it is known what this machine has, ... */
    ev_timer patience;            /* ... or this is over */
    struct list places;           /* of struct outpost_place */
    struct list visits;           /* of struct outpost_visit */
    struct recurrence recurrence; /* the server comes again */
    bool has_stopped;
    const char *why; /* static storage */
};

/* A place: an environment of the server. MESSAGE is that of NODE_ENVIRONMENT. */
struct outpost_place;

void outpost_place_add(struct outpost *outpost, const json_t *message);

/* The environment NUMBER. NULL with ERR. */
struct environment *outpost_place_find(const struct outpost *outpost, uint32_t number,
                                       struct error *err);

/* Scripts of the environment NUMBER, which has been found, work in DIRECTORY: from now on they only
 * read the entries NAMES there. */
void outpost_place_keep(const struct outpost *outpost, uint32_t number, const char *directory,
                        char *const *names);

/* OWN, the variables of an execution in ENVIRONMENT, behind those that tell which GPUs are this
 * job's, unless the operator has set them. For memory_free_strings. */
char **outpost_variables_new(const struct environment *environment, const char *const *own);

/* See catalog_stop. */
void outpost_places_stop(struct outpost *outpost);
bool outpost_places_are_idle(const struct outpost *outpost);
void outpost_places_free(struct outpost *outpost);

/* A visit: what is said on one channel, from NODE_PREPARE or NODE_START to NODE_ENDED. */
struct outpost_visit;

/* MESSAGE is taken. */
void outpost_visit_prepare(struct outpost *outpost, uint32_t channel, json_t *message);
void outpost_visit_start(struct outpost *outpost, uint32_t channel, json_t *message);

/* Another frame of an open channel. */
void outpost_visit_frame(struct outpost *outpost, enum node_frame type, uint32_t channel,
                         const char *data, size_t length);

/* Kills what is executed, and cancels what is prepared, on all channels. */
void outpost_visits_stop(struct outpost *outpost);
