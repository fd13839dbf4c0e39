/* Environments that have to go are stopped at once, and freed before the loop sleeps when they hold
 * nothing any more. */
#include "environments/callers/shelf.h"

#include "base/list.h"
#include "base/log.h"
#include "base/memory.h"
#include "environments/environment.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    struct list link;
    char *key;                       /* owned */
    struct environment *environment; /* owned */
};

struct shelf {
    struct ev_loop *loop;      /* borrowed */
    struct list kept;          /* of struct entry; the one that was used last is the last */
    struct list going;         /* of struct entry: stopped, and waited for */
    size_t count;              /* of both */
    struct ev_prepare prepare; /* running while some are going */
};

static struct entry *entry_of(struct list *link)
{
    return CONTAINER_OF(link, struct entry, link);
}

static void entry_free(struct entry *entry)
{
    list_remove(&entry->link);
    environment_free(entry->environment);
    free(entry->key);
    free(entry);
}

static void on_prepare(struct ev_loop *loop, struct ev_prepare *prepare, int events)
{
    struct shelf *shelf = CONTAINER_OF(prepare, struct shelf, prepare);

    (void)events;
    LIST_FOR_EACH_SAFE (&shelf->going, link) {
        if (!environment_is_idle(entry_of(link)->environment))
            continue;
        entry_free(entry_of(link));
        shelf->count--;
    }
    if (list_is_empty(&shelf->going))
        ev_prepare_stop(loop, prepare);
}

struct shelf *shelf_new(struct ev_loop *loop)
{
    struct shelf *shelf = NEW(struct shelf);

    shelf->loop = loop;
    list_init(&shelf->kept);
    list_init(&shelf->going);
    ev_prepare_init(&shelf->prepare, on_prepare);
    return shelf;
}

struct environment *shelf_find(struct shelf *shelf, const char *key)
{
    LIST_FOR_EACH (&shelf->kept, link) {
        struct entry *entry = entry_of(link);

        if (strcmp(entry->key, key) != 0)
            continue;
        list_remove(link);
        list_append(&shelf->kept, link);
        return entry->environment;
    }
    return NULL;
}

/* The one that nobody uses, for the longest time; or NULL. */
static struct entry *find_unused(const struct shelf *shelf)
{
    LIST_FOR_EACH (&shelf->kept, link) {
        if (entry_of(link)->environment->users == 0)
            return entry_of(link);
    }
    return NULL;
}

static void let_go(struct shelf *shelf, struct entry *entry)
{
    log_info("an environment that a call has defined is given up: others were used since then");
    list_remove(&entry->link);
    environment_stop(entry->environment);
    if (environment_is_idle(entry->environment)) {
        entry_free(entry);
        shelf->count--;
        return;
    }
    list_append(&shelf->going, &entry->link);
    ev_prepare_start(shelf->loop, &shelf->prepare);
}

/* What is going takes no place, but only so much may be going. */
int shelf_make_room(struct shelf *shelf, struct error *err)
{
    size_t kept = 0;
    struct entry *unused = find_unused(shelf);

    LIST_FOR_EACH (&shelf->kept, link)
        kept++;
    if (kept < SHELF_PLACES)
        return 0;
    if (!unused || shelf->count >= (size_t)2 * SHELF_PLACES)
        return error_set(err, ERROR_BUSY,
                         "the server is busy: %d environments that calls have defined are in use; "
                         "try again later, or with a definition that was used before",
                         SHELF_PLACES);
    let_go(shelf, unused);
    return 0;
}

void shelf_put(struct shelf *shelf, const char *key, struct environment *environment)
{
    struct entry *entry = NEW(struct entry);

    entry->key = memory_copy_string(key);
    entry->environment = environment;
    list_append(&shelf->kept, &entry->link);
    shelf->count++;
}

void shelf_stop(struct shelf *shelf)
{
    LIST_FOR_EACH (&shelf->kept, link)
        environment_stop(entry_of(link)->environment);
}

static bool is_idle(const struct list *entries)
{
    LIST_FOR_EACH (entries, link) {
        if (!environment_is_idle(entry_of(link)->environment))
            return false;
    }
    return true;
}

bool shelf_is_idle(const struct shelf *shelf)
{
    return is_idle(&shelf->kept) && is_idle(&shelf->going);
}

static void free_all(struct list *entries)
{
    LIST_FOR_EACH_SAFE (entries, link) {
        entry_free(entry_of(link));
    }
}

void shelf_free(struct shelf *shelf)
{
    if (!shelf)
        return;
    assert(shelf_is_idle(shelf));
    if (ev_is_active(&shelf->prepare))
        ev_prepare_stop(shelf->loop, &shelf->prepare);
    free_all(&shelf->kept);
    free_all(&shelf->going);
    free(shelf);
}
