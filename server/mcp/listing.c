#include "server/mcp/listing.h"

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/list.h"
#include "base/memory.h"
#include "server/mcp/params.h"
#include "server/mcp/peer.h"
#include "server/mcp/request.h"
#include "server/mcp/result.h"
#include "server/mcp/server.h"
#include "server/tools/caller.h"

#include <stdlib.h>
#include <string.h>

struct listing_cache {
    struct registry_watcher watcher;
    char *pages[REGISTRY_KINDS][MCP_VERSIONS][RESULT_FORMS]; /* the first, as JSON text; owned */
};

/* The cache */

static void listing_forget(struct listing_cache *cache, enum registry_kind kind)
{
    for (size_t version = 0; version < MCP_VERSIONS; version++) {
        for (size_t form = 0; form < RESULT_FORMS; form++) {
            free(cache->pages[kind][version][form]);
            cache->pages[kind][version][form] = NULL;
        }
    }
}

static void listing_on_changed(struct registry_watcher *watcher, enum registry_kind kind)
{
    listing_forget(CONTAINER_OF(watcher, struct listing_cache, watcher), kind);
}

struct listing_cache *listing_cache_new(struct registry *registry)
{
    struct listing_cache *cache = NEW(struct listing_cache);

    cache->watcher.changed = listing_on_changed;
    registry_watch(registry, &cache->watcher);
    return cache;
}

void listing_cache_free(struct listing_cache *cache)
{
    if (!cache)
        return;
    registry_unwatch(&cache->watcher);
    for (enum registry_kind kind = 0; kind < REGISTRY_KINDS; kind++)
        listing_forget(cache, kind);
    free(cache);
}

/* Cursors */

/* The place behind ENTRY, for clients. Owned by the caller. */
static char *cursor_behind(const struct registry_entry *entry)
{
    AUTO_FREE char *name = memory_format("%d %s", (int)entry->kind, entry->key);

    return base64_encode(BASE64_URL, name, strlen(name));
}

static bool is_behind(const struct registry_entry *entry, const char *name)
{
    AUTO_FREE char *expected = memory_format("%d %s", (int)entry->kind, entry->key);

    return strcmp(name, expected) == 0;
}

/* The position that CURSOR stands for. */
static int listing_read_cursor(const struct registry *registry, enum registry_kind kind,
                               const json_t *cursor, size_t *ret, struct error *err)
{
    size_t length = 0;
    AUTO_FREE char *name = NULL;

    if (!json_is_string(cursor))
        return error_set(err, ERROR_INVALID_PARAMS, "cursor must be a string");
    name =
        base64_decode(BASE64_URL, json_string_value(cursor), json_string_length(cursor), &length);
    for (size_t i = 0; name && i < registry_count(registry, kind); i++) {
        if (!is_behind(registry_at(registry, kind, i), name))
            continue;
        *ret = i + 1;
        return 0;
    }
    return error_set(err, ERROR_INVALID_PARAMS, "unknown cursor");
}

/* Pages */

/* A list that depends on its reader, or on the wishes of the request, must not be given to other
 * readers. */
static const struct result_caching *listing_caching(const struct listing_reader *reader)
{
    bool is_own = reader->principal || reader->form != RESULT_FORM_UNSAID;

    return is_own ? &result_caching_own_list : &result_caching_list;
}

/* The result for READER whose first entry is that at POSITION. New reference. */
static json_t *listing_page(const struct mcp_server *server, const struct listing *listing,
                            const struct listing_reader *reader, size_t position)
{
    const struct registry *registry = server->registry;
    size_t size = server->page_size > 0 ? server->page_size : LISTING_PAGE_SIZE;
    size_t count = registry_count(registry, listing->kind);
    size_t end = count - position > size ? position + size : count;
    json_t *entries = json_array();
    json_t *result = json_pack("{s:o}", listing->member, entries);

    for (size_t i = position; i < end; i++)
        json_array_append_new(entries,
                              listing->define(registry_at(registry, listing->kind, i), reader));
    if (end < count) {
        AUTO_FREE char *cursor = cursor_behind(registry_at(registry, listing->kind, end - 1));

        json_object_set_new(result, "nextCursor", json_string(cursor));
    }
    return result_finish_cacheable(server, reader->version, result, listing_caching(reader));
}

static const char *first_page(const struct mcp_server *server, const struct listing *listing,
                              const struct listing_reader *reader)
{
    char **place = &server->listing_cache->pages[listing->kind][reader->version][reader->form];

    if (!*place) {
        AUTO_JSON json_t *result = listing_page(server, listing, reader, 0);

        *place = json_text(result);
    }
    return *place;
}

static int listing_find_reader(const struct mcp_request *request, const struct listing *listing,
                               struct listing_reader *ret, struct error *err)
{
    const struct principal *principal = request->peer->caller->principal;

    *ret = (struct listing_reader){.version = request->version};
    if (listing->is_personal && listing->is_personal(request->peer->server->registry, principal))
        ret->principal = principal;
    return envelope_result_form(request->params, &ret->form, err);
}

enum outcome listing_answer(struct mcp_request *request, const struct listing *listing,
                            json_t **ret, struct error *err)
{
    const struct mcp_server *server = request->peer->server;
    const json_t *cursor = json_object_get(request->params, "cursor");
    struct listing_reader reader;
    size_t position = 0;

    if (listing_find_reader(request, listing, &reader, err) < 0)
        return OUTCOME_FAILED;
    if (!cursor && !reader.principal) {
        request->text = first_page(server, listing, &reader);
        return OUTCOME_READY;
    }
    if (cursor && listing_read_cursor(server->registry, listing->kind, cursor, &position, err) < 0)
        return OUTCOME_FAILED;
    *ret = listing_page(server, listing, &reader, position);
    return OUTCOME_READY;
}
