/* What one server offers: tools, prompts, resources and resource templates, each kind in the order
 * in which they were registered. It may change while clients are served: whoever is invoked is kept
 * until its calls are over. */
#pragma once

#include "base/error.h"
#include "base/list.h"
#include "base/outcome.h"

#include <stdbool.h>
#include <stddef.h>

struct invocation;
struct registry;

enum registry_kind {
    REGISTRY_TOOLS,
    REGISTRY_PROMPTS,
    REGISTRY_RESOURCES,
    REGISTRY_TEMPLATES,
    REGISTRY_KINDS,
};

/* Something that is registered, embedded in what its kind has more. */
struct registry_entry {
    enum registry_kind kind;
    const char *key; /* its name, URI or URI template: unique in its kind; the embedding struct's */
    void *data;      /* what was registered with it; borrowed */
    enum outcome (*start)(struct invocation *invocation, struct error *err);
    void (*cancel)(struct invocation *invocation); /* or NULL */
    void (*free)(struct registry_entry *entry);    /* frees the struct that embeds it */
    unsigned references;                           /* private */
};

struct registry_entry *entry_ref(struct registry_entry *entry);

/* Harmless for NULL. */
void entry_unref(struct registry_entry *entry);

/* A copy of TEXT, owned by the caller; NULL for NULL. */
char *entry_copy_text(const char *text);

/* NAME must be 1 to 128 of A-Z a-z 0-9 _ . -; else ERR says that WHAT ("tool") must have one. */
int entry_check_name(const char *what, const char *name, struct error *err);

/* A title or description is sent as it is, so TEXT must be UTF-8 or NULL. */
int entry_check_text(const char *text, struct error *err);

/* Whoever wants to know of changes; embedded, and in the registry until registry_unwatch. */
struct registry_watcher {
    struct list link;

    /* The list of KIND is another one than before. */
    void (*changed)(struct registry_watcher *watcher, enum registry_kind kind);

    /* The contents of the resource URI are others than before. May be NULL. */
    void (*updated)(struct registry_watcher *watcher, const char *uri);
};

struct registry *registry_new(void);

/* No call of what is in it may run any more. Harmless for NULL. */
void registry_free(struct registry *registry);

void registry_watch(struct registry *registry, struct registry_watcher *watcher);
void registry_unwatch(struct registry_watcher *watcher);

/* Adds ENTRY, which is taken; or, when its key is there already, fails with ERROR_CONFIG and leaves
 * it to the caller. */
int registry_add(struct registry *registry, struct registry_entry *entry, struct error *err);

/* Takes the entry KEY out; calls that run go on. Harmless when there is none. */
void registry_remove(struct registry *registry, enum registry_kind kind, const char *key);

/* Puts ENTRY, which is taken, in the place of the one with the same key, which must be there. */
void registry_replace(struct registry *registry, struct registry_entry *entry);

/* Tells watchers that the contents of the resource URI have changed. */
void registry_update(struct registry *registry, const char *uri);

/* True once anything of KIND has been registered: clients were told then that there is such. */
bool registry_offers(const struct registry *registry, enum registry_kind kind);

size_t registry_count(const struct registry *registry, enum registry_kind kind);

/* The entry at POSITION (< registry_count), borrowed. */
struct registry_entry *registry_at(const struct registry *registry, enum registry_kind kind,
                                   size_t position);

/* The entry KEY, borrowed, or NULL. */
struct registry_entry *registry_find(const struct registry *registry, enum registry_kind kind,
                                     const char *key);
