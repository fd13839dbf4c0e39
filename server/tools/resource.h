/* A resource is read by its URI. A template stands for many resources, by a URI with variables.
 *
 *     struct resource resource = {.uri = "run://last", .name = "last run", .start = read_last};
 *     resource_register(registry, &resource, &err);
 *
 * READ_LAST gets a struct invocation and adds to its content with resource_add_text or
 * resource_add_bytes. registry_update tells clients that contents have changed. */
#pragma once

#include "base/error.h"
#include "base/outcome.h"
#include "server/tools/invocation.h"
#include "server/tools/prompt.h"
#include "server/tools/registry.h"

#include <jansson.h>
#include <stddef.h>

struct resource {
    const char *uri;         /* of a template: see uri_template.h; copied */
    const char *name;        /* copied */
    const char *title;       /* may be NULL; copied */
    const char *description; /* may be NULL; copied */
    const char *mime_type;   /* may be NULL; copied */
    json_t *annotations;     /* audience, priority, lastModified; may be NULL; taken */
    json_t *icons;           /* may be NULL; taken */
    json_int_t size;         /* bytes; -1: unknown; of a resource only */
    void *data;              /* invocation->data; borrowed */
    completion_fn complete;  /* of a template's variables; may be NULL */

    /* As of a tool. invocation->arguments has `uri` and the decoded variables of a template. */
    enum outcome (*start)(struct invocation *invocation, struct error *err);
    void (*cancel)(struct invocation *invocation);
};

int resource_register(struct registry *registry, const struct resource *resource,
                      struct error *err);
int resource_register_template(struct registry *registry, const struct resource *resource,
                               struct error *err);

/* Registers LISTER, which lists the resources that a template stands for; a registry has at most
 * one lister. Its START gets `most` and perhaps `after`, the URI of the last resource listed
 * before, and makes at most MOST resources, {uri, name, ...}, the content of its result. */
int resource_register_lister(struct registry *registry, const struct resource *lister,
                             struct error *err);

/* The resource of ENTRY, a resource, a template or a lister. Borrowed. */
const struct resource *resource_of(const struct registry_entry *entry);

/* Makes INVOCATION an invocation of the resource URI. -1 with ERROR_UNKNOWN_RESOURCE: there is no
 * such resource. */
int resource_prepare(struct invocation *invocation, const struct registry *registry,
                     const char *uri, struct error *err);

/* Makes INVOCATION an invocation of the lister, which is there, for at most MOST resources behind
 * the URI AFTER, which may be NULL. */
void resource_prepare_list(struct invocation *invocation, const struct registry *registry,
                           const char *after, size_t most);

/* Appends contents to the result of INVOCATION: TEXT, or BYTES, which are sent as base64. If
 * MIME_TYPE is NULL, that of the resource is sent. */
void resource_add_text(struct invocation *invocation, const char *uri, const char *mime_type,
                       const char *text, size_t length);
void resource_add_bytes(struct invocation *invocation, const char *uri, const char *mime_type,
                        const void *bytes, size_t length);
