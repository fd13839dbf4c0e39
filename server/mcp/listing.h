/* Lists of what is registered, in pages, for the four methods that list.
 *
 * A cursor names the last entry of the page before, so it stays good while others come and go. What
 * most clients want, the first page, is kept as text for each revision and form of results until
 * the list changes. */
#pragma once

#include "base/error.h"
#include "base/outcome.h"
#include "server/mcp/version.h"
#include "server/tools/registry.h"
#include "server/tools/result_form.h"

#include <jansson.h>
#include <stdbool.h>

struct mcp_request;
struct principal;

enum { LISTING_PAGE_SIZE = 100 };

/* Who reads a list. */
struct listing_reader {
    enum mcp_version version;
    enum result_form form;             /* of the results that it wants */
    const struct principal *principal; /* that is shown something of its own; NULL: everybody */
};

/* A list: of the entries of KIND, in the member MEMBER of the result. */
struct listing {
    enum registry_kind kind;
    const char *member;

    /* What READER is shown of ENTRY. New reference. */
    json_t *(*define)(const struct registry_entry *entry, const struct listing_reader *reader);

    /* True when PRINCIPAL is shown something else than everybody; its list is then not kept. NULL:
     * nobody is. */
    bool (*is_personal)(const struct registry *registry, const struct principal *principal);
};

/* The pages that are kept for a server. */
struct listing_cache;

struct listing_cache *listing_cache_new(struct registry *registry);
void listing_cache_free(struct listing_cache *cache);

/* Answers REQUEST with the page of LISTING that it asks for. */
enum outcome listing_answer(struct mcp_request *request, const struct listing *listing,
                            json_t **ret, struct error *err);
