#include "environments/catalog/shelf.h"

#include "base/list.h"
#include "base/log.h"
#include "base/memory.h"
#include "environments/catalog/retirement.h"
#include "environments/environment.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct shelf_entry {
    struct list link;
    char *key;                       /* owned */
    char *owner;                     /* owned: who has defined it */
    struct environment *environment; /* owned */
};

struct shelf {
    struct list kept; /* of struct shelf_entry; the most recently used is the last */
    size_t count;     /* of the entries */
    struct retirement retirement;
};

static struct shelf_entry *entry_of(struct list *link)
{
    return CONTAINER_OF(link, struct shelf_entry, link);
}

/* Removes ENTRY. Returns its environment. */
static struct environment *entry_take(struct shelf *shelf, struct shelf_entry *entry)
{
    struct environment *environment = entry->environment;

    list_remove(&entry->link);
    shelf->count--;
    free(entry->key);
    free(entry->owner);
    free(entry);
    return environment;
}

struct shelf *shelf_new(struct ev_loop *loop)
{
    struct shelf *shelf = NEW(struct shelf);

    list_init(&shelf->kept);
    retirement_init(&shelf->retirement, loop);
    return shelf;
}

struct environment *shelf_find(struct shelf *shelf, const char *key)
{
    LIST_FOR_EACH (&shelf->kept, link) {
        struct shelf_entry *entry = entry_of(link);

        if (strcmp(entry->key, key) != 0)
            continue;
        list_remove(link);
        list_append(&shelf->kept, link);
        return entry->environment;
    }
    return NULL;
}

bool shelf_has(const struct shelf *shelf, const struct environment *environment)
{
    LIST_FOR_EACH (&shelf->kept, link) {
        if (entry_of(link)->environment == environment)
            return true;
    }
    return false;
}

/* The least recently used entry whose environment no run holds, or NULL. */
static struct shelf_entry *find_unused(const struct shelf *shelf)
{
    LIST_FOR_EACH (&shelf->kept, link) {
        if (entry_of(link)->environment->users == 0)
            return entry_of(link);
    }
    return NULL;
}

/* How many environments of OWNER runs hold. */
static int shelf_count_used(const struct shelf *shelf, const char *owner)
{
    int count = 0;

    LIST_FOR_EACH (&shelf->kept, link) {
        const struct shelf_entry *entry = entry_of(link);

        count += entry->environment->users > 0 && strcmp(entry->owner, owner) == 0;
    }
    return count;
}

/* Environments that retire take no room, but their number is limited, too. */
int shelf_make_room(struct shelf *shelf, const char *owner, struct error *err)
{
    struct shelf_entry *unused = find_unused(shelf);

    if (shelf_count_used(shelf, owner) >= SHELF_SHARE)
        return error_set(
            err, ERROR_BUSY,
            "%d environments that your calls have defined are in use: try again later, "
            "or with a definition that was used before",
            SHELF_SHARE);
    if (shelf->count < SHELF_PLACES)
        return 0;
    if (!unused || shelf->retirement.count >= SHELF_PLACES)
        return error_set(err, ERROR_BUSY,
                         "the server is busy: %d environments that calls have defined are in use; "
                         "try again later, or with a definition that was used before",
                         SHELF_PLACES);
    log_info("the least recently used environment that a call has defined is removed");
    retirement_add(&shelf->retirement, entry_take(shelf, unused));
    return 0;
}

void shelf_put(struct shelf *shelf, const char *key, const char *owner,
               struct environment *environment)
{
    struct shelf_entry *entry = NEW(struct shelf_entry);

    entry->key = memory_copy_string(key);
    entry->owner = memory_copy_string(owner);
    entry->environment = environment;
    list_append(&shelf->kept, &entry->link);
    shelf->count++;
}

void shelf_stop(struct shelf *shelf)
{
    LIST_FOR_EACH (&shelf->kept, link)
        environment_stop(entry_of(link)->environment);
    retirement_stop(&shelf->retirement);
}

bool shelf_is_idle(const struct shelf *shelf)
{
    LIST_FOR_EACH (&shelf->kept, link) {
        if (!environment_is_idle(entry_of(link)->environment))
            return false;
    }
    return retirement_is_idle(&shelf->retirement);
}

void shelf_free(struct shelf *shelf)
{
    if (!shelf)
        return;
    assert(shelf_is_idle(shelf));
    LIST_FOR_EACH_SAFE (&shelf->kept, link) {
        environment_free(entry_take(shelf, entry_of(link)));
    }
    retirement_deinit(&shelf->retirement);
    free(shelf);
}
