#include "environments/nodes/node_pool.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "environments/real_path.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct nodes {
    struct nodes_settings settings;
    char *place;       /* owned; `settings` points to it */
    struct list pools; /* of struct node_pool */
    uint32_t number;   /* of the last environment */
};

struct node_pool {
    struct list link;                     /* in the nodes */
    struct nodes *nodes;                  /* borrowed */
    json_t *definition;                   /* owned */
    const char *name;                     /* borrowed from it */
    const char **command;                 /* owned; its strings are borrowed */
    struct environment_machines machines; /* at most */
    double idle_seconds;
    unsigned users;      /* environments that hold it */
    struct list links;   /* of struct node_link, oldest first */
    unsigned count;      /* of them */
    struct list waiting; /* of struct node_stay, next one first */
    ev_timer turn;       /* gives out nodes from the loop */
};

static unsigned node_pool_starting(const struct node_pool *pool)
{
    unsigned count = 0;

    LIST_FOR_EACH (&pool->links, link)
        count += node_link_is_starting(CONTAINER_OF(link, struct node_link, link));
    return count;
}

static unsigned node_pool_waiting(const struct node_pool *pool)
{
    unsigned count = 0;

    LIST_FOR_EACH (&pool->waiting, link) {
        (void)link;
        count++;
    }
    return count;
}

static void node_pool_take_turns(struct node_pool *pool)
{
    if (!ev_is_active(&pool->turn))
        ev_timer_start(pool->nodes->settings.loop, &pool->turn);
}

static void node_pool_free(struct node_pool *pool)
{
    ev_timer_stop(pool->nodes->settings.loop, &pool->turn);
    list_remove(&pool->link);
    free(pool->command);
    json_decref(pool->definition);
    free(pool);
}

/* The first that waits gets no node. */
static void node_pool_disappoint(struct node_pool *pool, const char *why)
{
    struct node_stay *stay;
    AUTO_FREE char *text = memory_format("a node of \"%s\" cannot be started: %s", pool->name, why);

    if (list_is_empty(&pool->waiting))
        return;
    stay = CONTAINER_OF(pool->waiting.next, struct node_stay, link);
    list_remove(&stay->link);
    stay->pool = NULL;
    stay->lost(stay, text);
}

/* Its nodes */

struct node_member {
    struct node_link link;
    struct node_pool *pool; /* borrowed */
    bool was_up;
};

static struct node_member *node_member_of(const struct node_link *node)
{
    return CONTAINER_OF(node, struct node_member, link);
}

static struct node_pool *node_pool_of(const struct node_link *node)
{
    return node_member_of(node)->pool;
}

/* How many nodes that are starting are older. */
static unsigned node_pool_rank(const struct node_pool *pool, const struct node_link *node)
{
    unsigned rank = 0;

    LIST_FOR_EACH (&pool->links, link) {
        const struct node_link *other = CONTAINER_OF(link, struct node_link, link);

        if (other == node)
            break;
        rank += node_link_is_starting(other);
    }
    return rank;
}

/* Each waiting stay hears of one node only, lest the words of several seem to be those of one. */
static void node_pool_on_said(struct node_link *node, const char *line)
{
    const struct node_pool *pool = node_pool_of(node);
    const unsigned rank = node_pool_rank(pool, node);
    const unsigned starting = node_pool_starting(pool);
    unsigned place = 0;

    LIST_FOR_EACH_SAFE (&pool->waiting, link) {
        struct node_stay *stay = CONTAINER_OF(link, struct node_stay, link);

        if (place++ % starting == rank)
            stay->step(stay, line);
    }
}

static void node_pool_on_freed(struct node_link *node)
{
    node_member_of(node)->was_up = true;
    node_pool_take_turns(node_pool_of(node));
}

static void node_pool_on_lost(struct node_link *node, const char *why)
{
    struct node_pool *pool = node_pool_of(node);
    struct node_stay *stay = STEAL_PTR(node->stay);
    AUTO_FREE char *text = memory_format(
        "node %s was lost: %s", node->title ? json_string_value(node->title) : pool->name, why);

    if (stay) {
        stay->pool = NULL;
        stay->node = NULL;
        stay->lost(stay, text);
    } else if (!node_member_of(node)->was_up) {
        node_pool_disappoint(pool, why);
    }
    node_pool_take_turns(pool);
}

static void node_pool_on_gone(struct node_link *node)
{
    struct node_pool *pool = node_pool_of(node);

    list_remove(&node->link);
    pool->count--;
    node_link_deinit(node);
    free(node_member_of(node));
    node_pool_take_turns(pool);
}

static int node_pool_launch(struct node_pool *pool, struct error *err)
{
    const struct nodes_settings *settings = &pool->nodes->settings;
    struct node_member *member = NEW(struct node_member);

    member->pool = pool;
    member->link = (struct node_link){
        .loop = settings->loop,
        .name = pool->name,
        .place = settings->place,
        .is_best_effort = settings->is_best_effort,
        .has_copies = pool->machines.are_apart,
        .idle_seconds = pool->idle_seconds,
        .said = node_pool_on_said,
        .freed = node_pool_on_freed,
        .lost = node_pool_on_lost,
        .gone = node_pool_on_gone,
    };
    if (node_link_start(&member->link, pool->command, err) < 0) {
        free(member);
        return -1;
    }
    log_info("node %s is launched: %s", pool->name, pool->command[0]);
    list_append(&pool->links, &member->link.link);
    pool->count++;
    return 0;
}

static struct node_link *node_pool_find_free(const struct node_pool *pool)
{
    LIST_FOR_EACH (&pool->links, link) {
        struct node_link *node = CONTAINER_OF(link, struct node_link, link);

        if (node_link_is_free(node))
            return node;
    }
    return NULL;
}

static unsigned node_pool_held_by(const struct node_pool *pool, const char *owner)
{
    unsigned count = 0;

    LIST_FOR_EACH (&pool->links, link) {
        const struct node_stay *stay = CONTAINER_OF(link, struct node_link, link)->stay;

        count += owner && stay && stay->owner && strcmp(stay->owner, owner) == 0;
    }
    return count;
}

/* Finds the first of the owner who has the fewest nodes: sessions keep theirs for long. */
static struct node_stay *node_pool_next(const struct node_pool *pool)
{
    struct node_stay *next = NULL;
    unsigned fewest = UINT_MAX;

    LIST_FOR_EACH (&pool->waiting, link) {
        struct node_stay *stay = CONTAINER_OF(link, struct node_stay, link);
        const unsigned count = node_pool_held_by(pool, stay->owner);

        if (count >= fewest)
            continue;
        next = stay;
        fewest = count;
    }
    return next;
}

static void node_pool_grant(struct node_pool *pool)
{
    struct node_stay *stay;
    struct node_link *node;

    while ((stay = node_pool_next(pool)) && (node = node_pool_find_free(pool))) {
        list_remove(&stay->link);
        node_link_grant(node, stay);
        stay->granted(stay);
    }
}

/* As many as wait, and as there may be. */
static void node_pool_launch_wanted(struct node_pool *pool)
{
    while (pool->count < pool->machines.places &&
           node_pool_starting(pool) < node_pool_waiting(pool)) {
        struct error err = ERROR_INIT;

        if (node_pool_launch(pool, &err) < 0)
            node_pool_disappoint(pool, err.message);
    }
}

/* Nothing stays in the queue of a scheduler that nobody waits for: the youngest goes first. */
static void node_pool_drop_unwanted(struct node_pool *pool)
{
    unsigned starting = node_pool_starting(pool);
    const unsigned wanted = node_pool_waiting(pool);

    for (struct list *link = pool->links.previous; link != &pool->links && starting > wanted;
         link = link->previous) {
        struct node_link *node = CONTAINER_OF(link, struct node_link, link);

        if (!node_link_is_starting(node))
            continue;
        node_link_end(node);
        starting--;
    }
}

static void node_pool_explain_wait(const struct node_pool *pool, struct node_stay *stay)
{
    AUTO_FREE char *text = NULL;

    stay->is_told = true;
    if (pool->count - node_pool_starting(pool) >= pool->machines.places)
        text = memory_format("waiting: every node of %s is in use", pool->name);
    else
        text = memory_format("starting a node of %s", pool->name);
    stay->step(stay, text);
}

static void node_pool_explain(const struct node_pool *pool)
{
    LIST_FOR_EACH_SAFE (&pool->waiting, link) {
        struct node_stay *stay = CONTAINER_OF(link, struct node_stay, link);

        if (!stay->is_told)
            node_pool_explain_wait(pool, stay);
    }
}

static void node_pool_end_all(struct node_pool *pool)
{
    LIST_FOR_EACH_SAFE (&pool->links, link) {
        node_link_end(CONTAINER_OF(link, struct node_link, link));
    }
}

static void node_pool_kill_all(const struct node_pool *pool)
{
    LIST_FOR_EACH (&pool->links, link)
        node_launcher_kill(&CONTAINER_OF(link, struct node_link, link)->launcher);
}

static void node_pool_on_turn(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct node_pool *pool = CONTAINER_OF(timer, struct node_pool, turn);

    (void)loop;
    (void)events;
    node_pool_grant(pool);
    node_pool_launch_wanted(pool);
    node_pool_drop_unwanted(pool);
    node_pool_explain(pool);
    if (pool->users > 0)
        return;
    node_pool_end_all(pool);
    if (pool->count == 0)
        node_pool_free(pool);
}

/* Stays */

bool node_pool_has_copies(const struct node_pool *pool)
{
    return pool->machines.are_apart;
}

bool node_pool_has_tried(const struct node_pool *pool, const char *directory)
{
    return real_path_holds(pool->nodes->settings.place, directory);
}

bool node_pool_enter(struct node_pool *pool, struct node_stay *stay)
{
    struct node_link *node = list_is_empty(&pool->waiting) ? node_pool_find_free(pool) : NULL;

    list_init(&stay->link);
    stay->pool = pool;
    stay->node = NULL;
    if (node) {
        node_link_grant(node, stay);
        return true;
    }
    stay->is_told = false;
    list_append(&pool->waiting, &stay->link);
    node_pool_take_turns(pool);
    return false;
}

void node_pool_leave(struct node_stay *stay)
{
    struct node_pool *pool = STEAL_PTR(stay->pool);

    if (!pool)
        return;
    list_remove(&stay->link);
    if (stay->node)
        node_link_leave(stay);
    node_pool_take_turns(pool);
}

/* Pools */

static struct node_pool *node_pool_new(struct nodes *nodes, const json_t *definition)
{
    struct node_pool *pool = NEW(struct node_pool);
    const json_t *launcher = json_object_get(definition, "launcher");
    const json_t *word;
    size_t i;

    pool->nodes = nodes;
    pool->definition = json_incref((json_t *)definition);
    pool->name = json_object_get_string(definition, "name");
    pool->machines.name = pool->name;
    pool->command = memory_new(json_array_size(launcher) + 1, sizeof *pool->command);
    json_array_foreach (launcher, i, word)
        pool->command[i] = json_string_value(word);
    pool->machines.places = (unsigned)json_object_get_number(definition, "most", 1);
    pool->idle_seconds = json_object_get_number(definition, "idle", 0);
    pool->machines.are_apart =
        strcmp(text_or_none(json_object_get_string(definition, "files")), "copied") == 0;
    list_init(&pool->links);
    list_init(&pool->waiting);
    ev_timer_init(&pool->turn, node_pool_on_turn, 0., 0.);
    list_append(&nodes->pools, &pool->link);
    return pool;
}

static struct node_pool *node_pool_find(const struct nodes *nodes, const json_t *definition)
{
    LIST_FOR_EACH (&nodes->pools, link) {
        struct node_pool *pool = CONTAINER_OF(link, struct node_pool, link);

        if (json_equal(pool->definition, definition))
            return pool;
    }
    return NULL;
}

struct node_pool *node_pool_hold(struct nodes *nodes, const json_t *definition)
{
    struct node_pool *pool = node_pool_find(nodes, definition);

    if (!pool)
        pool = node_pool_new(nodes, definition);
    pool->users++;
    return pool;
}

void node_pool_release(struct node_pool *pool)
{
    assert(pool->users > 0);
    if (--pool->users == 0)
        node_pool_take_turns(pool);
}

const struct environment_machines *node_pool_machines(const struct node_pool *pool)
{
    return &pool->machines;
}

const char *node_pool_name(const struct node_pool *pool)
{
    return pool->name;
}

struct nodes *nodes_new(const struct nodes_settings *settings)
{
    struct nodes *nodes = NEW(struct nodes);

    nodes->settings = *settings;
    nodes->place = settings->place ? realpath(settings->place, NULL) : NULL;
    nodes->settings.place = nodes->place;
    list_init(&nodes->pools);
    return nodes;
}

void nodes_stop(struct nodes *nodes)
{
    LIST_FOR_EACH (&nodes->pools, link) {
        node_pool_end_all(CONTAINER_OF(link, struct node_pool, link));
    }
}

bool nodes_are_idle(const struct nodes *nodes)
{
    LIST_FOR_EACH (&nodes->pools, link)
        if (CONTAINER_OF(link, struct node_pool, link)->count > 0)
            return false;
    return true;
}

void nodes_kill(struct nodes *nodes)
{
    LIST_FOR_EACH (&nodes->pools, link)
        node_pool_kill_all(CONTAINER_OF(link, struct node_pool, link));
}

uint32_t nodes_number(struct nodes *nodes)
{
    return ++nodes->number;
}

void nodes_free(struct nodes *nodes)
{
    if (!nodes)
        return;
    LIST_FOR_EACH_SAFE (&nodes->pools, link) {
        node_pool_free(CONTAINER_OF(link, struct node_pool, link));
    }
    free(nodes->place);
    free(nodes);
}
