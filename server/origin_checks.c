#include "server/origin_checks.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"
#include "environments/catalog/catalog.h"
#include "environments/environment.h"
#include "environments/environment_level.h"
#include "environments/interpreter/python_needs.h"
#include "environments/interpreter/script_places.h"
#include "environments/interpreter/search_path.h"
#include "environments/process/process.h"
#include "environments/workplace/working_directory.h"
#include "server/configuration/config.h"
#include "server/origins.h"
#include "server/state_checks.h"
#include "server/tool_servers.h"

#include <stdlib.h>
#include <string.h>

/* Places */

static bool origin_checks_has_directory(const struct catalog *catalog)
{
    const char *directory = catalog_settings(catalog)->directory;

    for (size_t i = 0; directory && i < catalog_count(catalog); i++)
        if (state_checks_keep(catalog_at(catalog, i), directory))
            return true;
    return false;
}

struct script_places origin_checks_places(const struct catalog *catalog)
{
    const char *const common[] = {
        origin_checks_has_directory(catalog) ? catalog_settings(catalog)->directory : NULL, NULL};
    struct script_places places = {0};

    script_places_add(&places, common);
    for (size_t i = 0; i < catalog_count(catalog); i++) {
        const struct environment *environment = catalog_at(catalog, i);
        char **own = environment->ops->writes ? environment->ops->writes(environment) : NULL;

        script_places_add(&places, (const char *const *)own);
        script_places_add(&places, (const char *const *)environment->settings.sandbox.write);
        memory_free_strings(own);
    }
    return places;
}

/* Keeping */

/* A mount makes an entry of the directory read-only in a container, and in a root of its own: a run
 * that loses that root is refused; for a run on a node, the node does that. */
static int origin_checks_can_keep(const struct environment *environment, struct error *err)
{
    const struct process_sandbox all = {0};

    if (environment_isolation(environment) != ISOLATION_SANDBOX || !environment->host ||
        environment_machines_of(environment) ||
        process_host_receipt(environment->host, &all).layers & LAYER_ROOT)
        return 0;
    return error_set(err, ERROR_USAGE,
                     "without a root of their own (user namespaces), which this machine does not "
                     "give them, it cannot be read-only there");
}

/* Adds to KEPT what scripts of ENVIRONMENT must only read in DIRECTORY, so that they cannot change
 * ORIGIN. */
static int origin_checks_keep(const struct origin *origin, const struct environment *environment,
                              const char *directory, struct script_places *kept, struct error *err)
{
    AUTO_FREE char *entry = origin_find_entry(origin, directory, err);

    if (!entry || origin_checks_can_keep(environment, err) < 0)
        return -1;
    for (char **known = kept->paths; known && *known; known++)
        if (strcmp(*known, entry) == 0)
            return 0;
    script_places_add(kept, (const char *const[]){entry, NULL});
    return 0;
}

/* Says that scripts which write in PLACE could change ORIGIN, and WHY that cannot be prevented, or
 * NULL. Owned by the caller. */
static char *origin_checks_explain(const struct origin *origin, const char *place, const char *why)
{
    return memory_format("scripts that write in %s could change %s and %s%s%s", place, origin->path,
                         origin->harm, why ? ": " : "", text_or_none(why));
}

/* A configuration */

static const char WORKING_DIRECTORY[] = "/working_directory";

/* A place where scripts can write, and the key that says so. */
struct origin_writer {
    char *pointer; /* owned; NULL: no key does */
    char *place;   /* owned */
};

struct origin_writers {
    struct origin_writer *all; /* owned */
    size_t count;
};

/* POINTER and PLACE are taken. */
static void origin_writers_add(struct origin_writers *writers, char *pointer, char *place)
{
    writers->all = memory_resize(writers->all, (writers->count + 1) * sizeof *writers->all);
    writers->all[writers->count++] = (struct origin_writer){pointer, place};
}

static void origin_writers_add_list(struct origin_writers *writers, const char *name,
                                    const char *key, char *const *places)
{
    for (; places && *places; places++)
        origin_writers_add(writers, memory_format("/environments/%s/%s", name, key),
                           memory_copy_string(*places));
}

/* The places beside the directory of all scripts. */
static void origin_writers_find(struct origin_writers *ret, const struct catalog *catalog)
{
    static const char *const ours[] = {"work", "once", ANNEXES_NAME};
    const char *state = catalog_settings(catalog)->state;

    *ret = (struct origin_writers){0};
    for (size_t i = 0; i < catalog_count(catalog); i++) {
        const struct environment *environment = catalog_at(catalog, i);
        char **volumes = environment->ops->writes ? environment->ops->writes(environment) : NULL;

        origin_writers_add_list(ret, environment->name, "write",
                                environment->settings.sandbox.write);
        origin_writers_add_list(ret, environment->name, "volumes", volumes);
        memory_free_strings(volumes);
    }
    for (size_t i = 0; state && i < ARRAY_SIZE(ours); i++)
        origin_writers_add(ret, NULL, memory_format("%s/%s", state, ours[i]));
}

static void origin_writers_deinit(struct origin_writers *writers)
{
    for (size_t i = 0; i < writers->count; i++) {
        free(writers->all[i].pointer);
        free(writers->all[i].place);
    }
    free(writers->all);
    *writers = (struct origin_writers){0};
}

/* The key of ORIGIN is the mistake; without one, KEY, which names the place. */
static void origin_checks_complain(const struct origin *origin, const char *key, const char *told,
                                   struct config *config)
{
    AUTO_FREE char *whole = memory_format(
        "%s; keep the one outside of the other%s", told,
        key == WORKING_DIRECTORY ? ": working_directory can be a folder of its own" : "");

    config_complain(config, whole, "%s", origin->pointer ? origin->pointer : text_or_none(key));
}

/* False after a complaint. */
static bool origin_checks_writers(const struct origin *origin, const struct origin_writers *writers,
                                  struct config *config)
{
    for (size_t i = 0; i < writers->count; i++) {
        const struct origin_writer *writer = &writers->all[i];
        AUTO_FREE char *told = NULL;

        /* No module is looked for in the state directory of its user. */
        if (!(writer->pointer ? origin_is_reached : origin_lies_in)(origin, writer->place))
            continue;
        told = origin_checks_explain(origin, writer->place, NULL);
        origin_checks_complain(origin, writer->pointer, told, config);
        return false;
    }
    return true;
}

/* The same for the directory of all scripts. */
static bool origin_checks_working_directory(const struct origin *origin,
                                            const struct catalog *catalog,
                                            struct script_places *kept, struct config *config)
{
    const char *directory = catalog_settings(catalog)->directory;

    if (!directory || !origin_is_reached(origin, directory))
        return true;
    for (size_t i = 0; i < catalog_count(catalog); i++) {
        const struct environment *environment = catalog_at(catalog, i);
        struct error err = ERROR_INIT;
        AUTO_FREE char *told = NULL;

        if (!state_checks_keep(environment, directory) ||
            origin_checks_keep(origin, environment, directory, kept, &err) == 0)
            continue;
        told = origin_checks_explain(origin, directory, err.message);
        origin_checks_complain(origin, WORKING_DIRECTORY, told, config);
        return false;
    }
    return true;
}

/* Programs lie in the folders of PATH; servers of tools begin in a folder of the state. */
static void origin_checks_guard(const struct origins *origins, const struct config *config,
                                struct catalog *catalog)
{
    const json_t *tree = config_tree(config);
    const bool has_programs = json_object_size(json_object_get(tree, "tools")) > 0 ||
                              json_object_size(json_object_get(tree, "nodes")) > 0;
    const char *state = catalog_settings(catalog)->state;
    AUTO_FREE char *start = state ? memory_format("%s/" TOOL_SERVERS_START, state) : NULL;
    AUTO_FREE char *path = search_path_without(NULL, NULL);
    AUTO(script_places_deinit) struct script_places ways = {0};
    AUTO(script_places_deinit) struct script_places folders = {0};
    char *rest = path;

    script_places_add(&ways, (const char *const[]){start, NULL});
    for (size_t i = 0; i < origins->count; i++)
        script_places_add(origins->all[i].kind == ORIGIN_FOLDER ? &folders : &ways,
                          (const char *const *)origins->all[i].way);
    for (char *part; has_programs && (part = strsep(&rest, ":"));) {
        char **way = python_needs_way(part);

        script_places_add(&ways, (const char *const *)way);
        memory_free_strings(way);
    }
    catalog_guard(catalog, &ways, &folders);
}

void origin_checks(struct catalog *catalog, struct config *config)
{
    AUTO(script_places_deinit) struct script_places places = origin_checks_places(catalog);
    AUTO(script_places_deinit) struct script_places kept = {0};
    AUTO(origins_deinit) struct origins origins = {0};
    AUTO(origin_writers_deinit) struct origin_writers writers = {0};
    const char *told = NULL; /* the server has several programs, and all lie in one folder */

    origins_find(&origins, config, &places, NULL);
    origin_writers_find(&writers, catalog);
    for (size_t i = 0; i < origins.count; i++) {
        const struct origin *origin = &origins.all[i];

        if (!origin->pointer && origin->harm == told)
            continue;
        if (!(origin_checks_writers(origin, &writers, config) &&
              origin_checks_working_directory(origin, catalog, &kept, config)))
            told = origin->harm;
    }
    catalog_protect(catalog, (const char *const *)kept.paths);
    origin_checks_guard(&origins, config, catalog);
}

/* One directory */

static int origin_checks_refuse(const struct origin *origin, const char *directory,
                                struct error *err)
{
    AUTO_FREE char *told = origin_checks_explain(origin, directory, err->message);
    AUTO_FREE char *key = memory_copy_string(origin->pointer ? origin->pointer + 1 : "");

    for (char *slash = key; (slash = strchr(slash, '/'));)
        *slash = '.';
    error_clear(err);
    return error_set(err, ERROR_USAGE,
                     "%s%s%s%s; keep it elsewhere, or let the script work in another directory",
                     told, *key ? " (" : "", key, *key ? ")" : "");
}

int origin_checks_directory(const struct catalog *catalog, const struct config *config,
                            const struct environment *environment, const char *directory,
                            struct script_places *ret_kept, struct error *err)
{
    AUTO(script_places_deinit) struct script_places places = origin_checks_places(catalog);
    AUTO(origins_deinit) struct origins origins = {0};
    const char *const own[] = {directory, NULL};

    if (environment_isolation(environment) == ISOLATION_NONE)
        return 0;
    script_places_add(&places, own);
    origins_find(&origins, config, &places, directory);
    for (size_t i = 0; i < origins.count; i++) {
        const struct origin *origin = &origins.all[i];

        if (origin_is_reached(origin, directory) &&
            origin_checks_keep(origin, environment, directory, ret_kept, err) < 0)
            return origin_checks_refuse(origin, directory, err);
    }
    return 0;
}
