/* One node: a launcher, the wire to the `pyexecd node` behind it, and its stay.
 *
 *     LAUNCHING -> GREETING -> FREE <-> TAKEN -> EMPTYING -> FREE        all -> LEAVING
 *
 * A node has one stay at a time: one preparation, run or session. */
#pragma once

#include "base/list.h"
#include "environments/nodes/node_launcher.h"
#include "environments/nodes/node_wire.h"
#include "environments/workplace/trial_file.h"

#include <ev.h>
#include <jansson.h>
#include <stdint.h>

struct node_pool;

enum node_link_state {
    NODE_LINK_LAUNCHING, /* waits for its hello: its launcher may wait in a queue for hours */
    NODE_LINK_GREETING,  /* looks for the server's files */
    NODE_LINK_FREE,
    NODE_LINK_TAKEN,
    NODE_LINK_EMPTYING, /* nobody has it, and its last channel has not ended */
    NODE_LINK_LEAVING,  /* its wire is closed, and its launcher has not ended */
};

/* A stay: the use of a node by a preparation, a run or a session, which may wait for it; embedded
 * there. */
struct node_stay {
    struct list link;       /* in the pool, while it waits */
    struct node_pool *pool; /* borrowed; NULL: it is none */
    struct node_link *node; /* borrowed; NULL: it waits */
    bool is_told;           /* the reason why it waits */
    const char *owner;      /* borrowed: who has it; NULL: nobody in particular */

    /* From now on it has a node. */
    void (*granted)(struct node_stay *stay);
    /* TEXT: what it waits for. */
    void (*step)(struct node_stay *stay, const char *text);
    /* A frame of its channel; see node_wire. Behind NODE_ENDED comes none. */
    void (*frame)(struct node_stay *stay, enum node_frame type, const char *data, size_t length);
    /* There is no node for it, or no more. The stay is over. */
    void (*lost)(struct node_stay *stay, const char *why);
};

struct node_link {
    /* Inputs. */
    struct list link;                                       /* in the pool */
    struct ev_loop *loop;                                   /* borrowed */
    const char *name;                                       /* of the pool; borrowed */
    const char *place;                                      /* borrowed: where working directories
                                                               are */
    bool is_best_effort;                                    /* containment: best-effort */
    bool has_copies;                                        /* files: copied */
    double idle_seconds;                                    /* free for so long, it leaves */
    void (*said)(struct node_link *node, const char *line); /* its launcher, before it is free */
    void (*freed)(struct node_link *node);
    void (*lost)(struct node_link *node, const char *why); /* it leaves, unexpectedly */
    void (*gone)(struct node_link *node); /* the last thing that is called: it can be freed */

    enum node_link_state state;
    struct node_stay *stay; /* borrowed; of TAKEN */
    json_t *title;          /* owned: a string, "gpu (c12)"; NULL before its hello */

    /* Private. */
    struct node_launcher launcher;
    struct node_wire wire;
    uint32_t channel; /* of the present stay, or of the last one */
    bool is_open;     /* it was used, and has not ended */
    uint32_t *known;  /* owned: the environments that it has been told */
    size_t known_count;
    struct trial_file trial; /* it is to find it */
    unsigned trials;         /* files that it was to find */
    ev_timer idle;
    bool has_extended; /* the mercy, as files come back */
    ev_timer mercy; /* until when it has to be ready, or a killed script there has to have ended */
    char why[ERROR_FULL_BYTES]; /* it was lost */
};

/* Launches NODE by COMMAND, NULL-terminated. -1 with ERR: nothing will be called. */
int node_link_start(struct node_link *node, const char *const *command, struct error *err);

/* Ends NODE: by the end of its input, or, if it is not up yet, at once. A stay that has it loses
 * it.
 */
void node_link_end(struct node_link *node);

void node_link_deinit(struct node_link *node);

/* True until NODE is ready, or lost. */
bool node_link_is_starting(const struct node_link *node);

/* True when NODE can be granted. */
bool node_link_is_free(const struct node_link *node);

/* NODE, which is free, is STAY's. */
void node_link_grant(struct node_link *node, struct node_stay *stay);

/* STAY, which has a node, leaves it. */
void node_link_leave(struct node_stay *stay);

/* True the first time that the node of STAY is to be told of ENVIRONMENT. */
bool node_stay_introduces(struct node_stay *stay, uint32_t environment);

/* Says something to the node of STAY on its channel. */
void node_stay_send(struct node_stay *stay, enum node_frame type, const char *data, size_t length);
void node_stay_tell(struct node_stay *stay, enum node_frame type, json_t *message); /* taken */
void node_stay_give_credit(struct node_stay *stay, size_t length);

/* The name of its node, as results have it. A string; borrowed. */
const json_t *node_stay_title(const struct node_stay *stay);
