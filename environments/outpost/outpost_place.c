/* The environments of the server, each in a catalog of its own. */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "environments/catalog/catalog.h"
#include "environments/interpreter/script_places.h"
#include "environments/outpost/outpost_private.h"

#include <assert.h>
#include <stdlib.h>

struct outpost_place {
    struct list link;
    uint32_t number;
    struct catalog *catalog; /* owned; or NULL: ... */
    char *fault;             /* ... owned: why it cannot be had here */
};

static const struct outpost_place *outpost_place_at(const struct outpost *outpost, uint32_t number)
{
    LIST_FOR_EACH (&outpost->places, link) {
        const struct outpost_place *place = CONTAINER_OF(link, struct outpost_place, link);

        if (place->number == number)
            return place;
    }
    return NULL;
}

struct environment *outpost_place_find(const struct outpost *outpost, uint32_t number,
                                       struct error *err)
{
    const struct outpost_place *place = outpost_place_at(outpost, number);

    if (place && place->catalog)
        return catalog_at(place->catalog, 0);
    error_set(err, ERROR_UNAVAILABLE, "%s",
              place ? place->fault : "the node was not told about the environment");
    return NULL;
}

void outpost_place_keep(const struct outpost *outpost, uint32_t number, const char *directory,
                        char *const *names)
{
    const struct outpost_place *place = outpost_place_at(outpost, number);
    AUTO(script_places_deinit) struct script_places kept = {0};

    assert(place && place->catalog);
    for (; names && *names; names++) {
        AUTO_FREE char *path = memory_format("%s/%s", directory, *names);

        script_places_add(&kept, (const char *const[]){path, NULL});
    }
    catalog_protect(place->catalog, (const char *const *)kept.paths);
}

static struct catalog *outpost_place_make(const struct outpost *outpost, const char *name,
                                          const json_t *message, struct error *err)
{
    struct environment_settings defaults = {
        .sandbox = {.is_wanted = true, .is_optional = true},
    };
    const char *key = NULL;
    struct catalog *catalog = catalog_new(&(struct catalog_settings){
        .loop = outpost->settings.host.loop,
        .host = outpost->host,
        .state = outpost->settings.state,
        .instance = outpost->settings.instance,
        .container_init = outpost->settings.container_init,
        .proxy = outpost->settings.proxy,
    });

    environment_settings_read(&defaults, json_object_get(message, "settings"));
    if (catalog_add(catalog, name, json_object_get(message, "definition"), &defaults, &key, err) <
        0) {
        catalog_free(catalog);
        error_prefix(err, "%s", key ? key : "its definition");
        return NULL;
    }
    catalog_complete(catalog);
    return catalog;
}

/* The fault of an environment that cannot be made here is told when it is asked for. */
void outpost_place_add(struct outpost *outpost, const json_t *message)
{
    const char *name = text_or_none(json_object_get_string(message, "name"));
    struct error err = ERROR_INIT;
    struct outpost_place *place = NEW(struct outpost_place);

    place->number = (uint32_t)json_integer_value(json_object_get(message, "number"));
    place->catalog = outpost_place_make(outpost, name, message, &err);
    if (!place->catalog)
        place->fault =
            memory_format("environment \"%s\" cannot be had on this node: %s", name, err.message);
    list_append(&outpost->places, &place->link);
}

void outpost_places_stop(struct outpost *outpost)
{
    LIST_FOR_EACH (&outpost->places, link) {
        struct catalog *catalog = CONTAINER_OF(link, struct outpost_place, link)->catalog;

        if (catalog)
            catalog_stop(catalog);
    }
}

bool outpost_places_are_idle(const struct outpost *outpost)
{
    LIST_FOR_EACH (&outpost->places, link) {
        const struct catalog *catalog = CONTAINER_OF(link, struct outpost_place, link)->catalog;

        if (catalog && !catalog_is_idle(catalog))
            return false;
    }
    return true;
}

void outpost_places_free(struct outpost *outpost)
{
    LIST_FOR_EACH_SAFE (&outpost->places, link) {
        struct outpost_place *place = CONTAINER_OF(link, struct outpost_place, link);

        catalog_free(place->catalog);
        free(place->fault);
        free(place);
    }
}
