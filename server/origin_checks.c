#include "server/origin_checks.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"
#include "environments/catalog/catalog.h"
#include "environments/environment_level.h"
#include "environments/interpreter/script_places.h"
#include "environments/interpreter/search_path.h"
#include "environments/process/process.h"
#include "environments/workplace/working_directory.h"
#include "server/configuration/config.h"
#include "server/origins.h"
#include "server/state_checks.h"

#include <stdlib.h>
#include <string.h>

/* A place where scripts can write, and the key that says so. */
struct origin_writer {
    const char *pointer; /* NULL: no key does */
    const char *place;
};

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

/* Complaints */

/* The configuration and the programs of the server stay where they are: the place is the mistake.
 */
static void origin_checks_complain(const struct origin *origin, const struct origin_writer *writer,
                                   struct config *config)
{
    AUTO_FREE char *told =
        origin->pointer
            ? memory_format("%s is reached through %s, where scripts can write: they would %s; "
                            "keep the one outside of the other",
                            origin->path, writer->place, origin->harm)
            : memory_format("%s lies or leads there (%s), and scripts would %s: name another place",
                            origin->path, writer->place, origin->harm);

    config_complain(config, told, "%s",
                    origin->pointer ? origin->pointer : text_or_none(writer->pointer));
}

static void origin_checks_place(const struct origins *origins, const struct origin_writer *writer,
                                struct config *config)
{
    for (size_t i = 0; i < origins->count; i++)
        if (origin_is_reached(&origins->all[i], writer->place))
            origin_checks_complain(&origins->all[i], writer, config);
}

static void origin_checks_list(const struct origins *origins, const char *name, const char *key,
                               char *const *places, struct config *config)
{
    AUTO_FREE char *pointer = memory_format("/environments/%s/%s", name, key);

    for (; places && *places; places++)
        origin_checks_place(origins, &(struct origin_writer){pointer, *places}, config);
}

static void origin_checks_environment(const struct origins *origins,
                                      const struct environment *environment, struct config *config)
{
    char **volumes = environment->ops->writes ? environment->ops->writes(environment) : NULL;

    origin_checks_list(origins, environment->name, "write", environment->settings.sandbox.write,
                       config);
    origin_checks_list(origins, environment->name, "volumes", volumes, config);
    memory_free_strings(volumes);
}

/* The directories that are made for calls. */
static void origin_checks_state(const struct origins *origins, const struct catalog *catalog,
                                struct config *config)
{
    static const char *const ours[] = {"work", "once", ANNEXES_NAME};
    const char *state = catalog_settings(catalog)->state;

    for (size_t i = 0; state && i < ARRAY_SIZE(ours); i++) {
        AUTO_FREE char *place = memory_format("%s/%s", state, ours[i]);

        origin_checks_place(origins, &(struct origin_writer){NULL, place}, config);
    }
}

/* Programs lie in the folders of PATH, and modules beside the configuration. */
static void origin_checks_guard(const struct origins *origins, struct catalog *catalog,
                                const struct config *config)
{
    AUTO_FREE char *folder = origins_folder(config);
    AUTO_FREE char *path = search_path_without(NULL, NULL);
    const char **guarded = memory_new(origins->count + strlen(path) + 2, sizeof *guarded);
    size_t count = 0;
    char *rest = path;

    guarded[count++] = folder;
    for (size_t i = 0; i < origins->count; i++)
        if (origins->all[i].path)
            guarded[count++] = origins->all[i].path;
    for (char *part = strsep(&rest, ":"); part; part = strsep(&rest, ":"))
        if (*part)
            guarded[count++] = part;
    catalog_guard(catalog, guarded);
    free(guarded);
}

void origin_checks(struct catalog *catalog, struct config *config)
{
    AUTO(script_places_deinit) struct script_places places = origin_checks_places(catalog);
    AUTO(origins_deinit) struct origins origins;

    origins_find(&origins, config, &places);
    if (origin_checks_has_directory(catalog))
        origin_checks_place(
            &origins,
            &(struct origin_writer){"/working_directory", catalog_settings(catalog)->directory},
            config);
    for (size_t i = 0; i < catalog_count(catalog); i++)
        origin_checks_environment(&origins, catalog_at(catalog, i), config);
    origin_checks_state(&origins, catalog, config);
    origin_checks_guard(&origins, catalog, config);
}

/* One directory */

/* A mount can make an entry of the directory read-only in a container, and in a root of its own. */
static bool origin_checks_can_keep(const struct environment *environment)
{
    const struct process_sandbox all = {0};

    return environment_isolation(environment) != ISOLATION_SANDBOX ||
           process_host_receipt(environment->host, &all).layers & LAYER_ROOT;
}

static int origin_checks_refuse(const struct origin *origin, const char *directory,
                                struct error *err)
{
    const char *key = origin->pointer ? origin->pointer + 1 : "";

    return error_set(err, ERROR_USAGE,
                     "%s is reached through %s%s%s%s, where the script could %s: let it work in "
                     "another directory",
                     origin->path, directory, *key ? " (" : "", key, *key ? ")" : "", origin->harm);
}

int origin_checks_directory(const struct catalog *catalog, const struct config *config,
                            const struct environment *environment, const char *directory,
                            struct script_places *ret_kept, struct error *err)
{
    AUTO(script_places_deinit) struct script_places places = origin_checks_places(catalog);
    AUTO(origins_deinit) struct origins origins;
    const char *const own[] = {directory, NULL};

    if (environment_isolation(environment) == ISOLATION_NONE)
        return 0;
    script_places_add(&places, own);
    origins_find(&origins, config, &places);
    for (size_t i = 0; i < origins.count; i++) {
        const struct origin *origin = &origins.all[i];
        AUTO_FREE char *entry = NULL;

        if (!origin_is_reached(origin, directory))
            continue;
        if (origin_checks_can_keep(environment))
            entry = origin_find_entry(origin, directory);
        if (!entry)
            return origin_checks_refuse(origin, directory, err);
        if (!script_places_reach(ret_kept, entry))
            script_places_add(ret_kept, (const char *const[]){entry, NULL});
    }
    return 0;
}
