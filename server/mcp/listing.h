/* Lists of registered entries, in pages, for the four methods that list.
 *
 * A cursor names the last entry of the page before, so it stays good while other entries come and
 * go. The first page, which most clients want, is kept as text for each revision and form of
 * results until the list changes. */
#pragma once

#include "base/error.h"
#include "base/outcome.h"
#include "base/protocol/version.h"
#include "server/tools/invocation.h"
#include "server/tools/registry.h"

#include <jansson.h>
#include <stdbool.h>

struct mcp_request;
struct principal;

enum { LISTING_PAGE_SIZE = 100 };

/* The reader of a list. */
struct listing_reader {
    enum mcp_version version;
    enum result_form form;             /* the form of results that it wants */
    const struct principal *principal; /* a principal that sees other entries than everybody; NULL:
                                          everybody */
};

/* A list: of the entries of KIND, in the member MEMBER of the result. */
struct listing {
    enum registry_kind kind;
    const char *member;

    /* The definition of ENTRY for READER. New reference. */
    json_t *(*define)(const struct registry_entry *entry, const struct listing_reader *reader);

    /* True when PRINCIPAL sees another list than everybody; its list is then not kept. NULL: all
     * see the same list. */
    bool (*is_personal)(const struct registry *registry, const struct principal *principal);
};

/* The pages that are kept for a server. */
struct listing_cache;

struct listing_cache *listing_cache_new(struct registry *registry);
void listing_cache_free(struct listing_cache *cache);

/* Answers REQUEST with the page of LISTING that it asks for. */
enum outcome listing_answer(struct mcp_request *request, const struct listing *listing,
                            json_t **ret, struct error *err);
