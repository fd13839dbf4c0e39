/* The offer of a server: tools, prompts, resources, resource templates and their listers, each kind
 * in the order of registration. It may change while clients are served: an entry is kept until its
 * invocations are over. */
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
    REGISTRY_LISTERS, /* of resources that templates stand for */
    REGISTRY_KINDS,
};

/* One tool, prompt, resource or template; embedded in the struct of its kind. */
struct registry_entry {
    enum registry_kind kind;
    const char *key; /* name, URI or URI template: unique in its kind; the embedding struct's */
    void *data;      /* of the registering module; borrowed */
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

/* Fails unless NAME is 1 to 128 of the characters A-Z a-z 0-9 _ . -; the message calls it WHAT
 * ("tool"). */
int entry_check_name(const char *what, const char *name, struct error *err);

/* Fails unless TEXT, a title or description, is UTF-8 or NULL. */
int entry_check_text(const char *text, struct error *err);

/* A change of contents. */
struct registry_update {
    const char *uri;       /* of the resource; with a slash at its end: of every resource below
                              it */
    const char *principal; /* the name of the only principal that may know; NULL: everybody */
};

/* A watcher of changes; embedded, and in the registry until registry_unwatch. */
struct registry_watcher {
    struct list link;

    /* The list of KIND has changed. */
    void (*changed)(struct registry_watcher *watcher, enum registry_kind kind);

    /* The contents of a resource have changed. May be NULL. */
    void (*updated)(struct registry_watcher *watcher, const struct registry_update *update);
};

struct registry *registry_new(void);

/* All invocations must be over. Harmless for NULL. */
void registry_free(struct registry *registry);

void registry_watch(struct registry *registry, struct registry_watcher *watcher);
void registry_unwatch(struct registry_watcher *watcher);

/* Adds ENTRY, which is taken. Fails with ERROR_CONFIG if its key is registered already; then ENTRY
 * still belongs to the caller. */
int registry_add(struct registry *registry, struct registry_entry *entry, struct error *err);

/* Removes the entry KEY; its invocations go on. Harmless if there is none. */
void registry_remove(struct registry *registry, enum registry_kind kind, const char *key);

/* Replaces the entry with the key of ENTRY, which must be registered. ENTRY is taken. */
void registry_replace(struct registry *registry, struct registry_entry *entry);

/* Tells watchers of UPDATE. */
void registry_tell_update(const struct registry *registry, const struct registry_update *update);

/* Tells watchers that the contents of the resource URI have changed for everybody. */
void registry_update(struct registry *registry, const char *uri);

/* True if an entry of KIND was ever registered: clients were told that the server has some. */
bool registry_offers(const struct registry *registry, enum registry_kind kind);

size_t registry_count(const struct registry *registry, enum registry_kind kind);

/* The entry at POSITION (< registry_count), borrowed. */
struct registry_entry *registry_at(const struct registry *registry, enum registry_kind kind,
                                   size_t position);

/* The entry KEY, borrowed, or NULL. */
struct registry_entry *registry_find(const struct registry *registry, enum registry_kind kind,
                                     const char *key);
