#include "server/tools/python/python_offer.h"

#include "base/memory.h"
#include "environments/catalog/catalog.h"
#include "environments/notebook/notebooks.h"
#include "server/tools/caller.h"
#include "server/tools/limits.h"
#include "server/tools/python/python_host.h"

#include <string.h>

static const char *const *python_offer_names(const struct principal *principal)
{
    return limits_find(principal->limits, principal->name)->environments;
}

static bool python_offer_has(const struct python_offer *offer, const char *name)
{
    for (const char *const *own = offer->names; own && *own; own++) {
        if (strcmp(*own, name) == 0)
            return true;
    }
    return offer->names == NULL;
}

bool python_offer_is_personal(const struct principal *principal)
{
    return python_offer_names(principal) || limits_find(principal->limits, principal->name)->tools;
}

struct environment *python_offer_next(const struct python_offer *offer, size_t *position)
{
    while (*position < catalog_count(offer->catalog)) {
        struct environment *environment = catalog_at(offer->catalog, (*position)++);

        if (python_offer_has(offer, environment->name))
            return environment;
    }
    return NULL;
}

struct environment *python_offer_find(const struct python_offer *offer, const char *name)
{
    return python_offer_has(offer, name) ? catalog_find(offer->catalog, name) : NULL;
}

const struct environment **python_offer_list(const struct python_offer *offer)
{
    const struct environment **list = memory_new(catalog_count(offer->catalog) + 1, sizeof *list);
    size_t position = 0;
    size_t count = 0;

    while ((list[count] = python_offer_next(offer, &position)))
        count++;
    return list;
}

/* A principal whose environments have all gone from the configuration keeps the default, which it
 * is refused. */
static void python_offer_choose_default(struct python_offer *offer)
{
    size_t position = 0;
    const struct environment *first = python_offer_next(offer, &position);

    if (first && !python_offer_has(offer, offer->default_environment))
        offer->default_environment = first->name;
}

struct python_offer python_offer_for(const struct python_settings *settings,
                                     const struct principal *principal)
{
    struct python_offer offer = {
        .catalog = settings->catalog,
        .settings = settings,
        .principal = principal,
        .rules = settings->rules,
        .default_environment = settings->default_environment,
        .sessions = notebooks_are_offered(settings->notebooks) ? settings->notebooks : NULL,
    };

    if (!principal || !python_offer_names(principal))
        return offer;
    offer.names = python_offer_names(principal);
    offer.rules = NULL;
    python_offer_choose_default(&offer);
    return offer;
}
