/* A resource: something that clients may read by its URI; and a template: many of them, by a URI
 * with variables in it.
 *
 *     struct resource resource = {.uri = "run://last", .name = "last run", .start = read_last};
 *     resource_register(registry, &resource, &err);
 *
 * What READ_LAST gets to work with is struct invocation; it fills in the content with
 * resource_add_text or resource_add_bytes. When contents change, registry_update says so. */
#pragma once

#include "base/error.h"
#include "base/outcome.h"
#include "server/tools/invocation.h"
#include "server/tools/prompt.h"
#include "server/tools/registry.h"

#include <jansson.h>
#include <stddef.h>

struct resource {
    const char *uri;         /* or, of a template, a URI template (RFC 6570) with simple variables,
                                {name}, none of which takes a slash; copied */
    const char *name;        /* copied */
    const char *title;       /* may be NULL; copied */
    const char *description; /* may be NULL; copied */
    const char *mime_type;   /* may be NULL; copied */
    json_t *annotations;     /* audience, priority, lastModified; may be NULL; taken */
    json_t *icons;           /* may be NULL; taken */
    json_int_t size;         /* bytes; of a resource, -1: not told */
    void *data;              /* invocation->data; borrowed */
    completion_fn complete;  /* of a template's variables; may be NULL */

    /* As a tool's. invocation->arguments has `uri` and, of a template, its variables, decoded. */
    enum outcome (*start)(struct invocation *invocation, struct error *err);
    void (*cancel)(struct invocation *invocation);
};

int resource_register(struct registry *registry, const struct resource *resource,
                      struct error *err);
int resource_register_template(struct registry *registry, const struct resource *resource,
                               struct error *err);

/* The resource that ENTRY, of REGISTRY_RESOURCES or REGISTRY_TEMPLATES, is. Borrowed. */
const struct resource *resource_of(const struct registry_entry *entry);

/* Makes INVOCATION one of the resource URI. -1 with ERROR_UNKNOWN_RESOURCE: there is none. */
int resource_prepare(struct invocation *invocation, const struct registry *registry,
                     const char *uri, struct error *err);

/* Appends contents to the result of INVOCATION: TEXT, or BYTES, which are carried as base64.
 * MIME_TYPE may be NULL: the resource's. */
void resource_add_text(struct invocation *invocation, const char *uri, const char *mime_type,
                       const char *text, size_t length);
void resource_add_bytes(struct invocation *invocation, const char *uri, const char *mime_type,
                        const void *bytes, size_t length);
