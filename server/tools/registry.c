#include "server/tools/registry.h"

#include "base/memory.h"
#include "base/text.h"
#include "base/utf8.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 128 };

static const char NAME_CHARACTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                      "0123456789_.-";

/* The entries of one kind. */
struct entry_list {
    struct registry_entry **entries; /* owned, and a reference of each */
    size_t count;
    bool offered; /* there is an entry, or was one */
};

struct registry {
    struct entry_list kinds[REGISTRY_KINDS];
    struct list watchers; /* of struct registry_watcher */
};

struct registry_entry *entry_ref(struct registry_entry *entry)
{
    entry->references++;
    return entry;
}

void entry_unref(struct registry_entry *entry)
{
    if (entry && --entry->references == 0)
        entry->free(entry);
}

/* Texts of entries */

char *entry_copy_text(const char *text)
{
    return text ? memory_copy_string(text) : NULL;
}

int entry_check_name(const char *what, const char *name, struct error *err)
{
    size_t length = name ? strlen(name) : 0;

    if (length == 0 || length > NAME_BYTES || strspn(name, NAME_CHARACTERS) != length)
        return error_set(err, ERROR_CONFIG,
                         "%s name \"%.*s\": must be 1 to %d characters of A-Z a-z 0-9 _ . -", what,
                         NAME_BYTES, text_or_none(name), NAME_BYTES);
    return 0;
}

int entry_check_text(const char *text, struct error *err)
{
    if (text && !utf8_is_valid(text, strlen(text)))
        return error_set(err, ERROR_CONFIG, "a name, title or description is not UTF-8");
    return 0;
}

struct registry *registry_new(void)
{
    struct registry *registry = NEW(struct registry);

    list_init(&registry->watchers);
    return registry;
}

void registry_free(struct registry *registry)
{
    if (!registry)
        return;
    for (size_t kind = 0; kind < REGISTRY_KINDS; kind++) {
        for (size_t i = 0; i < registry->kinds[kind].count; i++)
            entry_unref(registry->kinds[kind].entries[i]);
        free(registry->kinds[kind].entries);
    }
    free(registry);
}

/* Watchers */

void registry_watch(struct registry *registry, struct registry_watcher *watcher)
{
    list_append(&registry->watchers, &watcher->link);
}

void registry_unwatch(struct registry_watcher *watcher)
{
    list_remove(&watcher->link);
}

static void registry_tell(const struct registry *registry, enum registry_kind kind)
{
    LIST_FOR_EACH_SAFE (&registry->watchers, link) {
        struct registry_watcher *watcher = CONTAINER_OF(link, struct registry_watcher, link);

        watcher->changed(watcher, kind);
    }
}

void registry_tell_update(const struct registry *registry, const struct registry_update *update)
{
    LIST_FOR_EACH_SAFE (&registry->watchers, link) {
        struct registry_watcher *watcher = CONTAINER_OF(link, struct registry_watcher, link);

        if (watcher->updated)
            watcher->updated(watcher, update);
    }
}

void registry_update(struct registry *registry, const char *uri)
{
    registry_tell_update(registry, &(struct registry_update){.uri = uri});
}

/* Entries */

static struct registry_entry **registry_find_slot(const struct registry *registry,
                                                  enum registry_kind kind, const char *key)
{
    const struct entry_list *list = &registry->kinds[kind];

    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->entries[i]->key, key) == 0)
            return &list->entries[i];
    }
    return NULL;
}

int registry_add(struct registry *registry, struct registry_entry *entry, struct error *err)
{
    struct entry_list *list = &registry->kinds[entry->kind];

    if (registry_find_slot(registry, entry->kind, entry->key))
        return error_set(err, ERROR_CONFIG, "%s: registered already", entry->key);
    list->entries = memory_resize(list->entries, (list->count + 1) * sizeof(*list->entries));
    list->entries[list->count++] = entry_ref(entry);
    list->offered = true;
    registry_tell(registry, entry->kind);
    return 0;
}

void registry_remove(struct registry *registry, enum registry_kind kind, const char *key)
{
    struct entry_list *list = &registry->kinds[kind];
    struct registry_entry **place = registry_find_slot(registry, kind, key);

    if (!place)
        return;
    entry_unref(*place);
    list->count--;
    memmove(place, place + 1, (size_t)(list->entries + list->count - place) * sizeof(*place));
    registry_tell(registry, kind);
}

void registry_replace(struct registry *registry, struct registry_entry *entry)
{
    struct registry_entry **place = registry_find_slot(registry, entry->kind, entry->key);
    struct registry_entry *before;

    assert(place);
    before = *place;
    *place = entry_ref(entry);
    entry_unref(before);
    registry_tell(registry, entry->kind);
}

bool registry_offers(const struct registry *registry, enum registry_kind kind)
{
    return registry->kinds[kind].offered;
}

size_t registry_count(const struct registry *registry, enum registry_kind kind)
{
    return registry->kinds[kind].count;
}

struct registry_entry *registry_at(const struct registry *registry, enum registry_kind kind,
                                   size_t position)
{
    assert(position < registry->kinds[kind].count);
    return registry->kinds[kind].entries[position];
}

struct registry_entry *registry_find(const struct registry *registry, enum registry_kind kind,
                                     const char *key)
{
    struct registry_entry **place = registry_find_slot(registry, kind, key);

    return place ? *place : NULL;
}
