#include "server/tools/resource.h"

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "server/tools/uri_template.h"

#include <stdlib.h>
#include <string.h>

enum { URI_SHOWN_BYTES = 256 };

struct resource_entry {
    struct registry_entry entry;
    struct resource resource; /* its strings and JSON: owned */
};

const struct resource *resource_of(const struct registry_entry *entry)
{
    return &CONTAINER_OF(entry, struct resource_entry, entry)->resource;
}

/* Registering */

static void resource_entry_free(struct registry_entry *entry)
{
    struct resource_entry *resource_entry = CONTAINER_OF(entry, struct resource_entry, entry);
    struct resource *resource = &resource_entry->resource;

    json_decref(resource->icons);
    json_decref(resource->annotations);
    free((char *)resource->mime_type);
    free((char *)resource->description);
    free((char *)resource->title);
    free((char *)resource->name);
    free((char *)resource->uri);
    free(resource_entry);
}

static struct resource_entry *resource_entry_new(const struct resource *source,
                                                 enum registry_kind kind)
{
    struct resource_entry *resource_entry = NEW(struct resource_entry);
    struct resource *resource = &resource_entry->resource;

    *resource = *source;
    resource->uri = memory_copy_string(text_or_none(source->uri));
    resource->name = memory_copy_string(text_or_none(source->name));
    resource->title = entry_copy_text(source->title);
    resource->description = entry_copy_text(source->description);
    resource->mime_type = entry_copy_text(source->mime_type);
    resource_entry->entry = (struct registry_entry){
        .kind = kind,
        .key = resource->uri,
        .data = resource->data,
        .start = resource->start,
        .cancel = resource->cancel,
        .free = resource_entry_free,
    };
    return resource_entry;
}

static int resource_check_texts(const struct resource *resource, struct error *err)
{
    const char *texts[] = {resource->uri, resource->name, resource->title, resource->description,
                           resource->mime_type};

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        if (entry_check_text(texts[i], err) < 0)
            return -1;
    }
    if (!*resource->name)
        return error_set(err, ERROR_CONFIG, "it must have a name");
    return 0;
}

/* Checks that the URI begins with a scheme; the rest is not checked. */
static int check_resource(const struct resource_entry *entry, struct error *err)
{
    const char *uri = entry->resource.uri;
    size_t scheme = strcspn(uri, ":/?#{");

    if (resource_check_texts(&entry->resource, err) < 0)
        return -1;
    if (scheme == 0 || uri[scheme] != ':')
        return error_set(err, ERROR_CONFIG, "a URI begins with a scheme");
    if (entry->entry.kind != REGISTRY_TEMPLATES)
        return 0;
    if (uri_template_has(uri, "uri"))
        return error_set(err, ERROR_CONFIG, "a variable must not be called uri");
    return uri_template_check(uri, err);
}

static int resource_add(struct registry *registry, const struct resource *resource,
                        enum registry_kind kind, struct error *err)
{
    struct resource_entry *entry = resource_entry_new(resource, kind);

    if (check_resource(entry, err) == 0 && registry_add(registry, &entry->entry, err) == 0)
        return 0;
    error_prefix(err, "resource %.*s", URI_SHOWN_BYTES, entry->resource.uri);
    resource_entry_free(&entry->entry);
    return -1;
}

int resource_register(struct registry *registry, const struct resource *resource, struct error *err)
{
    return resource_add(registry, resource, REGISTRY_RESOURCES, err);
}

int resource_register_template(struct registry *registry, const struct resource *resource,
                               struct error *err)
{
    return resource_add(registry, resource, REGISTRY_TEMPLATES, err);
}

int resource_register_lister(struct registry *registry, const struct resource *lister,
                             struct error *err)
{
    return resource_add(registry, lister, REGISTRY_LISTERS, err);
}

/* Listing */

void resource_prepare_list(struct invocation *invocation, const struct registry *registry,
                           const char *after, size_t most)
{
    invocation_find(invocation, registry, REGISTRY_LISTERS,
                    registry_at(registry, REGISTRY_LISTERS, 0)->key);
    invocation->normalised = json_pack("{s:s*, s:I}", "after", after, "most", (json_int_t)most);
    invocation->arguments = invocation->normalised;
}

/* Reading */

/* Makes INVOCATION an invocation of the first template that matches URI. Returns the variables in
 * URI, or NULL. */
static json_t *resource_find_template(struct invocation *invocation,
                                      const struct registry *registry, const char *uri)
{
    for (size_t i = 0; i < registry_count(registry, REGISTRY_TEMPLATES); i++) {
        const char *template = registry_at(registry, REGISTRY_TEMPLATES, i)->key;
        json_t *values = uri_template_match(template, uri);

        if (!values)
            continue;
        invocation_find(invocation, registry, REGISTRY_TEMPLATES, template);
        return values;
    }
    return NULL;
}

int resource_prepare(struct invocation *invocation, const struct registry *registry,
                     const char *uri, struct error *err)
{
    if (invocation_find(invocation, registry, REGISTRY_RESOURCES, uri))
        invocation->normalised = json_object();
    else
        invocation->normalised = resource_find_template(invocation, registry, uri);
    if (!invocation->normalised)
        return error_set(err, ERROR_UNKNOWN_RESOURCE, "%.*s", URI_SHOWN_BYTES, uri);
    json_object_set_new(invocation->normalised, "uri", json_string(uri));
    invocation->arguments = invocation->normalised;
    return 0;
}

static void add_contents(struct invocation *invocation, const char *uri, const char *mime_type,
                         const char *member, json_t *value)
{
    if (!mime_type)
        mime_type = resource_of(invocation->entry)->mime_type;
    if (!invocation->result.content)
        invocation->result.content = json_array();
    json_array_append_new(
        invocation->result.content,
        json_pack("{s:s, s:s*, s:o}", "uri", uri, "mimeType", mime_type, member, value));
}

void resource_add_text(struct invocation *invocation, const char *uri, const char *mime_type,
                       const char *text, size_t length)
{
    add_contents(invocation, uri, mime_type, "text", json_string_repaired(text, length));
}

void resource_add_bytes(struct invocation *invocation, const char *uri, const char *mime_type,
                        const void *bytes, size_t length)
{
    AUTO_FREE char *text = base64_encode(BASE64_STANDARD, bytes, length);

    add_contents(invocation, uri, mime_type, "blob", json_string(text));
}
