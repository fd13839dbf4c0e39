#include "environments/workplace/disk_ledger.h"

#include "base/memory.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

/* The sum for a principal. It is there as long as it has entries. */
struct disk_account {
    char *principal; /* owned */
    uint64_t taken;
    size_t entries;
};

struct disk_entry {
    struct list seen_link;
    struct list doubted_link;
    struct disk_account *account; /* borrowed */
    enum isolation isolation;
    char *handle; /* owned */
    uint64_t bytes;
    uint64_t more;      /* that it may take beside, while it is doubted */
    unsigned long look; /* that has seen it last */
};

static int disk_account_compare(const void *a, const void *b)
{
    const struct disk_account *left = a;
    const struct disk_account *right = b;

    return strcmp(left->principal, right->principal);
}

static int disk_entry_compare(const void *a, const void *b)
{
    const struct disk_entry *left = a;
    const struct disk_entry *right = b;

    return strcmp(left->handle, right->handle);
}

static struct disk_account *disk_account_find(const struct disk_ledger *ledger,
                                              const char *principal)
{
    const struct disk_account key = {.principal = (char *)principal};
    struct disk_account **found = tfind(&key, &ledger->accounts, disk_account_compare);

    return found ? *found : NULL;
}

static struct disk_entry *disk_entry_find(const struct disk_ledger *ledger, const char *handle)
{
    const struct disk_entry key = {.handle = (char *)handle};
    struct disk_entry **found = tfind(&key, &ledger->entries, disk_entry_compare);

    return found ? *found : NULL;
}

/* Puts OBJECT, which is new, into a tree. Running out of memory ends the program, as anywhere. */
static void disk_ledger_plant(void *object, void **tree, int (*compare)(const void *, const void *))
{
    if (!tsearch(object, tree, compare))
        abort();
}

static struct disk_account *disk_account_open(struct disk_ledger *ledger, const char *principal)
{
    struct disk_account *account = disk_account_find(ledger, principal);

    if (!account) {
        account = NEW(struct disk_account);
        account->principal = memory_copy_string(principal);
        disk_ledger_plant(account, &ledger->accounts, disk_account_compare);
    }
    account->entries++;
    return account;
}

static void disk_account_close(struct disk_ledger *ledger, struct disk_account *account)
{
    if (--account->entries > 0)
        return;
    tdelete(account, &ledger->accounts, disk_account_compare);
    free(account->principal);
    free(account);
}

static void disk_entry_set_bytes(struct disk_entry *entry, uint64_t bytes)
{
    entry->account->taken += bytes - entry->bytes;
    entry->bytes = bytes;
}

/* It is there now. */
static void disk_entry_see(struct disk_ledger *ledger, struct disk_entry *entry)
{
    entry->look = ledger->look;
    list_remove(&entry->seen_link);
    list_append(&ledger->seen, &entry->seen_link);
}

static struct disk_entry *disk_entry_open(struct disk_ledger *ledger,
                                          const struct disk_place *place)
{
    struct disk_entry *entry = disk_entry_find(ledger, place->handle);

    if (!entry) {
        entry = NEW(struct disk_entry);
        list_init(&entry->seen_link);
        list_init(&entry->doubted_link);
        entry->isolation = place->isolation;
        entry->handle = memory_copy_string(place->handle);
        entry->account = disk_account_open(ledger, place->principal);
        disk_ledger_plant(entry, &ledger->entries, disk_entry_compare);
    }
    disk_entry_see(ledger, entry);
    return entry;
}

static void disk_entry_close(struct disk_ledger *ledger, struct disk_entry *entry)
{
    tdelete(entry, &ledger->entries, disk_entry_compare);
    disk_entry_set_bytes(entry, 0);
    disk_account_close(ledger, entry->account);
    list_remove(&entry->seen_link);
    list_remove(&entry->doubted_link);
    free(entry->handle);
    free(entry);
}

void disk_ledger_init(struct disk_ledger *ledger)
{
    *ledger = (struct disk_ledger){0};
    list_init(&ledger->seen);
    list_init(&ledger->doubted);
}

void disk_ledger_deinit(struct disk_ledger *ledger)
{
    while (!list_is_empty(&ledger->seen))
        disk_entry_close(ledger, CONTAINER_OF(ledger->seen.next, struct disk_entry, seen_link));
    free(ledger->first);
    ledger->first = NULL;
}

void disk_ledger_meet(struct disk_ledger *ledger, const char *principal)
{
    if (!ledger->first)
        ledger->first = memory_copy_string(principal);
    else if (strcmp(ledger->first, principal) != 0)
        ledger->are_several = true;
}

void disk_ledger_note(struct disk_ledger *ledger, const struct disk_place *place, uint64_t bytes)
{
    if (place->principal)
        disk_entry_set_bytes(disk_entry_open(ledger, place), bytes);
}

uint64_t disk_ledger_bytes(const struct disk_ledger *ledger, const struct disk_place *place)
{
    const struct disk_entry *entry = disk_entry_find(ledger, place->handle);

    return entry ? entry->bytes : 0;
}

uint64_t disk_ledger_taken(const struct disk_ledger *ledger, const char *principal)
{
    const struct disk_account *account = disk_account_find(ledger, principal);

    return account ? account->taken : 0;
}

void disk_ledger_forget(struct disk_ledger *ledger, const char *handle)
{
    struct disk_entry *entry = disk_entry_find(ledger, handle);

    if (entry)
        disk_entry_close(ledger, entry);
}

void disk_ledger_doubt(struct disk_ledger *ledger, const struct disk_place *place, uint64_t more)
{
    struct disk_entry *entry;

    if (!place->principal)
        return;
    entry = disk_entry_open(ledger, place);
    if (more > entry->more)
        entry->more = more;
    list_remove(&entry->doubted_link);
    list_append(&ledger->doubted, &entry->doubted_link);
}

bool disk_ledger_take_doubted(struct disk_ledger *ledger, struct disk_place *ret_place,
                              uint64_t *ret_more)
{
    struct disk_entry *entry;

    if (list_is_empty(&ledger->doubted))
        return false;
    entry = CONTAINER_OF(ledger->doubted.next, struct disk_entry, doubted_link);
    list_remove(&entry->doubted_link);
    *ret_place = (struct disk_place){.principal = entry->account->principal,
                                     .isolation = entry->isolation,
                                     .handle = entry->handle};
    *ret_more = entry->more;
    entry->more = 0;
    return true;
}

void disk_ledger_begin_look(struct disk_ledger *ledger)
{
    ledger->look++;
}

void disk_ledger_see(struct disk_ledger *ledger, const char *handle)
{
    struct disk_entry *entry = disk_entry_find(ledger, handle);

    if (entry)
        disk_entry_see(ledger, entry);
}

void disk_ledger_end_look(struct disk_ledger *ledger)
{
    while (!list_is_empty(&ledger->seen)) {
        struct disk_entry *entry = CONTAINER_OF(ledger->seen.next, struct disk_entry, seen_link);

        if (entry->look == ledger->look)
            break;
        disk_entry_close(ledger, entry);
    }
}
