/* A script in a container, under a pyexecd-init: the container of a run or a session, one that was
 * started ahead of its script, or a run in a kept container.
 *
 *     STARTING -> RUNNING -> NONE                       the script is there
 *     STARTING -> WAITING -> ASKED -> RUNNING -> NONE   it comes later (engine/init_protocol.h)
 *
 * The tree reads what the script prints and what the init says, wherever that comes from, and sends
 * the init away when it has said its last words. Its owner may change before the script comes. */
#pragma once

#include "base/buffer.h"
#include "environments/docker/direct_streams.h"
#include "environments/docker/order.h"
#include "environments/docker/output.h"
#include "environments/engine/container.h"
#include "environments/engine/exec.h"
#include "environments/process/process.h"

#include <ev.h>
#include <stdbool.h>

struct docker_go;

enum docker_tree_state {
    DOCKER_TREE_NONE,     /* has not been started, or has ended */
    DOCKER_TREE_STARTING, /* waits for the engine */
    DOCKER_TREE_WAITING,  /* waits for a script */
    DOCKER_TREE_ASKED,    /* waits for the answer of its init */
    DOCKER_TREE_RUNNING,  /* waits for the end of its script */
    DOCKER_TREE_LEAVING,  /* has no owner; waits until its container is removed */
};

/* The end of a script whose tree has ended. */
enum docker_tree_fate {
    DOCKER_TREE_HAS_RUN,
    DOCKER_TREE_NEVER_BEGAN, /* certainly */
    DOCKER_TREE_WAS_LOST,    /* the connection was, between go and answer: it may have run or not */
};

/* The owner of a tree, which hears of its life. */
struct docker_tree_owner {
    /* May be NULL. Its script begins. */
    void (*began)(struct docker_tree_owner *owner);

    /* May be NULL: the engine is always waited for. The engine can add nothing to the last WORDS
     * of the tree, and `ended` comes now. */
    bool (*has_enough)(const struct docker_tree_owner *owner, const struct last_words *words);

    /* Called last: `end` and `fate` of the tree are set, and a loss is explained in `end`. */
    void (*ended)(struct docker_tree_owner *owner);
};

struct docker_tree {
    struct docker_tree_owner *owner; /* borrowed */
    struct docker_site *site;        /* borrowed */
    enum docker_tree_state state;
    struct docker_output output; /* to the listener of the owner */
    char *name;                  /* owned: of the container, once it starts */
    const struct docker_go *go;  /* borrowed: for its script; NULL: there is none */
    bool killed;                 /* by its owner */
    double ahead_seconds;        /* from its start until it waited, or its script came; or 0 */
    struct container_end end;
    enum docker_tree_fate fate;

    /* Private. One of `container` and `exec` is under way. */
    struct container container;
    struct exec exec;
    struct direct_streams streams;
    struct buffer unsent;    /* orders for its init, until their way is known */
    bool awaits;             /* a go */
    bool has_tools;          /* its script calls tools */
    bool is_unwanted;        /* to be dismissed as soon as the engine has started it */
    double started_at;       /* CLOCK_MONOTONIC seconds */
    ev_timer patience;       /* for the answer of its init */
    ev_timer drain;          /* for its output, when the container it runs in has ended */
    ev_prepare complete;     /* fed, never started: it has ended, as its last words say */
    ev_timer rest;           /* before its container is removed */
    struct engine_duty duty; /* lets the engine free it when it is LEAVING */
};

/* A tree of OWNER, whose LISTENER gets the output. */
struct docker_tree *docker_tree_new(struct docker_site *site, struct docker_tree_owner *owner,
                                    struct execution_listener *listener);

/* Frees TREE. Requests and processes under way are killed, in the background. */
void docker_tree_free(struct docker_tree *tree);

/* Frees TREE, which has ended. If only its init is left alive, the container is removed a little
 * later: that keeps many processes of the engine busy, and the client reads its answer first. */
void docker_tree_leave(struct docker_tree *tree);

/* Begins to start a container for ORDER, with the properties OWN but for its streams. -1 with ERR.
 */
int docker_tree_start(struct docker_tree *tree, const struct docker_order *order,
                      struct docker_order_container own, struct error *err);

/* The init of TREE, which is executed next in a kept container, finds the streams in FOLDER, where
 * nothing is yet. */
void docker_tree_offer_streams(struct docker_tree *tree, const char *folder);

/* Begins to start a run in CONTAINER, an id. If it AWAITS its script, it prints nothing before. */
void docker_tree_execute(struct docker_tree *tree, const char *container, const json_t *definition,
                         bool awaits);

/* The container in which TREE runs has ended. The engine may never say so of the run: scripts can
 * make it wait for a file of theirs. Then TREE ends after a while. */
void docker_tree_drain(struct docker_tree *tree);

/* TREE belongs to OWNER from now on, and its output to LISTENER. */
void docker_tree_give(struct docker_tree *tree, struct docker_tree_owner *owner,
                      struct execution_listener *listener);

/* Its script, which has not begun, calls tools by the socket TOOLS (borrowed; 0: it does not). */
void docker_tree_give_tools(struct docker_tree *tree, int tools);

/* Its script is not to begin without its tools. The first container of a site may show that none
 * can have any, and begins all the same. */
bool docker_tree_needs_tools(const struct docker_tree *tree);

/* Its script is there: GO, borrowed as long as the tree, is sent when its init waits. */
void docker_tree_ask(struct docker_tree *tree, const struct docker_go *go);

/* Its init ends, at once or as soon as the engine has started it. */
void docker_tree_dismiss(struct docker_tree *tree);

/* Its init has refused to begin: it has none of the tools that its script needs. */
bool docker_tree_lacked_tools(const struct docker_tree *tree);

/* Sends DATA, frames of the wire, to its init. -1 with ERR: it takes no more. */
int docker_tree_send(struct docker_tree *tree, const char *data, size_t length, struct error *err);

/* Only a container of its own can be interrupted and killed. */
void docker_tree_interrupt(struct docker_tree *tree);
void docker_tree_kill(struct docker_tree *tree);

/* What is known of its script, by `end` and the state before. IS_WHOLE: all output has come. */
enum docker_tree_fate docker_tree_judge(const struct docker_tree *tree, bool is_whole);

/* How its script has ended, SINCE when PYTHON was to execute it. */
struct process_end docker_tree_conclude(struct docker_tree *tree, double since, const char *python);
