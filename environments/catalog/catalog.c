#include "environments/catalog/catalog.h"

#include "base/json.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/text.h"
#include "environments/callers/caller_rules.h"
#include "environments/catalog/exposure.h"
#include "environments/catalog/extension.h"
#include "environments/catalog/retirement.h"
#include "environments/catalog/shelf.h"
#include "environments/catalog/survey.h"
#include "environments/interpreter/script_places.h"
#include "environments/kinds/kinds.h"
#include "environments/nodes/node_environment.h"
#include "environments/sandbox_policy.h"
#include "environments/venv/sweep.h"

#include <stdlib.h>
#include <string.h>

struct catalog {
    struct catalog_settings settings;
    char *state;                          /* owned; `settings` points to it */
    char *container_init;                 /* the same */
    char *proxy;                          /* the same */
    char *directory;                      /* owned */
    struct script_places written;         /* by scripts of all environments */
    struct script_places kept;            /* see catalog_protect() */
    struct script_places guarded;         /* see catalog_guard() */
    struct script_places guarded_folders; /* the same */
    struct environment **environments;    /* owned, with its members */
    size_t count;
    struct venv_sweep sweep;      /* removes what a killed server has left of venvs */
    struct retirement retirement; /* of environments that another configuration has replaced */
    struct shelf *shelf;          /* owned; the environments that calls have defined */
    struct environment_survey survey;
    void (*learned)(void *data); /* NULL: nobody wants news of the survey */
    void *data;                  /* borrowed: for `learned` */
};

struct catalog *catalog_new(const struct catalog_settings *settings)
{
    struct catalog *catalog = NEW(struct catalog);

    catalog->settings = *settings;
    if (settings->state)
        catalog->state = memory_copy_string(settings->state);
    catalog->settings.state = catalog->state;
    if (settings->container_init)
        catalog->container_init = memory_copy_string(settings->container_init);
    catalog->settings.container_init = catalog->container_init;
    if (settings->proxy)
        catalog->proxy = memory_copy_string(settings->proxy);
    catalog->settings.proxy = catalog->proxy;
    if (settings->directory)
        catalog->directory = memory_copy_string(settings->directory);
    catalog->settings.directory = catalog->directory;
    catalog->shelf = shelf_new(settings->loop);
    retirement_init(&catalog->retirement, settings->loop);
    survey_init(&catalog->survey);
    return catalog;
}

const struct catalog_settings *catalog_settings(const struct catalog *catalog)
{
    return &catalog->settings;
}

/* Directories that are made for callers need not be among them: nothing of the operator's leads
 * there. */
static void catalog_find_written(struct catalog *catalog)
{
    const char *const common[] = {catalog->directory, NULL};

    script_places_deinit(&catalog->written);
    script_places_add(&catalog->written, common);
    for (size_t i = 0; i < catalog->count; i++) {
        struct environment *environment = catalog->environments[i];
        char **own = environment->ops->writes ? environment->ops->writes(environment) : NULL;

        script_places_add(&catalog->written, (const char *const *)own);
        script_places_add(&catalog->written,
                          (const char *const *)environment->settings.sandbox.write);
        memory_free_strings(own);
        environment->written = &catalog->written;
        environment->kept = &catalog->kept;
    }
}

void catalog_protect(struct catalog *catalog, const char *const *paths)
{
    script_places_deinit(&catalog->kept);
    script_places_add(&catalog->kept, paths);
}

static bool catalog_keeps_path(const struct catalog *catalog, const char *path)
{
    for (char *const *kept = catalog->kept.paths; kept && *kept; kept++)
        if (strcmp(*kept, path) == 0)
            return true;
    return false;
}

const char *catalog_find_unkept(const struct catalog *catalog, const struct catalog *next)
{
    for (char *const *path = next->kept.paths; path && *path; path++)
        if (!catalog_keeps_path(catalog, *path))
            return *path;
    return NULL;
}

void catalog_guard(struct catalog *catalog, struct script_places *paths,
                   struct script_places *folders)
{
    script_places_deinit(&catalog->guarded);
    script_places_deinit(&catalog->guarded_folders);
    catalog->guarded = *paths;
    catalog->guarded_folders = *folders;
    *paths = *folders = (struct script_places){0};
}

void catalog_work_in(struct catalog *catalog, const char *directory)
{
    free(catalog->directory);
    catalog->directory = directory ? memory_copy_string(directory) : NULL;
    catalog->settings.directory = catalog->directory;
    catalog_find_written(catalog);
    for (size_t i = 0; i < catalog->count; i++)
        environment_work_in(catalog->environments[i], directory);
}

void catalog_begin(struct catalog *catalog)
{
    for (size_t i = 0; i < catalog->count; i++)
        environment_begin(catalog->environments[i]);
    if (catalog->settings.state)
        venv_sweep_start(&catalog->sweep, catalog->settings.loop, catalog->settings.state);
}

static void catalog_on_learned(struct environment_survey *survey)
{
    const struct catalog *catalog = CONTAINER_OF(survey, struct catalog, survey);

    catalog->learned(catalog->data);
}

static void catalog_survey_all(struct catalog *catalog)
{
    for (size_t i = 0; i < catalog->count; i++)
        survey_add(&catalog->survey, catalog->environments[i]);
}

void catalog_survey(struct catalog *catalog, void (*learned)(void *data), void *data)
{
    catalog->learned = learned;
    catalog->data = data;
    catalog->survey.loop = catalog->settings.loop;
    catalog->survey.host = catalog->settings.host;
    catalog->survey.state = catalog->settings.state;
    catalog->survey.learned = catalog_on_learned;
    catalog_survey_all(catalog);
}

void catalog_stop(struct catalog *catalog)
{
    survey_stop(&catalog->survey);
    venv_sweep_stop(&catalog->sweep);
    for (size_t i = 0; i < catalog->count; i++)
        environment_stop(catalog->environments[i]);
    retirement_stop(&catalog->retirement);
    shelf_stop(catalog->shelf);
}

bool catalog_is_idle(const struct catalog *catalog)
{
    for (size_t i = 0; i < catalog->count; i++)
        if (!environment_is_idle(catalog->environments[i]))
            return false;
    return retirement_is_idle(&catalog->retirement) && shelf_is_idle(catalog->shelf);
}

void catalog_free(struct catalog *catalog)
{
    if (!catalog)
        return;
    for (size_t i = 0; i < catalog->count; i++)
        environment_free(catalog->environments[i]);
    venv_sweep_stop(&catalog->sweep);
    retirement_deinit(&catalog->retirement);
    shelf_free(catalog->shelf);
    free(catalog->environments);
    free(catalog->state);
    free(catalog->container_init);
    free(catalog->proxy);
    free(catalog->directory);
    script_places_deinit(&catalog->written);
    script_places_deinit(&catalog->kept);
    script_places_deinit(&catalog->guarded);
    script_places_deinit(&catalog->guarded_folders);
    free(catalog);
}

struct environment *catalog_find(const struct catalog *catalog, const char *name)
{
    for (size_t i = 0; i < catalog->count; i++)
        if (strcmp(catalog->environments[i]->name, name) == 0)
            return catalog->environments[i];
    return NULL;
}

size_t catalog_count(const struct catalog *catalog)
{
    return catalog->count;
}

struct environment *catalog_at(const struct catalog *catalog, size_t index)
{
    return catalog->environments[index];
}

/* NAME=VALUE for every member of VARIABLES, NULL-terminated. Owned by the caller. */
static char **read_variables(const json_t *variables)
{
    char **strings = memory_new(json_object_size(variables) + 1, sizeof *strings);
    const char *name;
    json_t *value;
    size_t count = 0;

    json_object_foreach ((json_t *)variables, name, value)
        strings[count++] = memory_format("%s=%s", name, json_string_value(value));
    return strings;
}

/* If the definition gives max_timeout alone, the timeout is moved to fit. */
static int catalog_settle_timeouts(struct environment_settings *settings, const json_t *definition,
                                   const char **ret_key, struct error *err)
{
    if (settings->timeout <= settings->max_timeout)
        return 0;
    if (json_object_get(definition, "max_timeout") && !json_object_get(definition, "timeout")) {
        settings->timeout = settings->max_timeout;
        return 0;
    }
    *ret_key = "timeout";
    return error_set(err, ERROR_CONFIG, "%g seconds is more than max_timeout, which is %g",
                     settings->timeout, settings->max_timeout);
}

/* A container is one already. */
static int catalog_read_sandbox(struct environment_recipe *recipe, const char **ret_key,
                                struct error *err)
{
    const struct environment_kind *kind = environment_kinds_find(recipe->definition);

    if (!kind || kind->isolation != ISOLATION_NONE) {
        recipe->settings.sandbox = (struct sandbox_settings){0};
        return 0;
    }
    if (node_environment_is_wanted(recipe->definition))
        return node_environment_read_sandbox(&recipe->settings.sandbox, recipe->definition, ret_key,
                                             err);
    return sandbox_settings_read(&recipe->settings.sandbox, recipe->definition, recipe->state,
                                 ret_key, err);
}

/* Owned by the caller. */
static char **catalog_read_tools(const json_t *names)
{
    char **tools = memory_new(json_array_size(names) + 1, sizeof *tools);
    const json_t *name;
    size_t i;

    json_array_foreach (names, i, name)
        tools[i] = memory_copy_string(json_string_value(name));
    return tools;
}

static int read_settings(struct environment_recipe *recipe, const char **ret_key, struct error *err)
{
    const json_t *definition = recipe->definition;

    environment_settings_read(&recipe->settings, definition);
    if (catalog_settle_timeouts(&recipe->settings, definition, ret_key, err) < 0 ||
        catalog_read_sandbox(recipe, ret_key, err) < 0)
        return -1;
    recipe->settings.variables = read_variables(json_object_get(definition, "environment"));
    recipe->settings.tools = catalog_read_tools(json_object_get(definition, "tools"));
    return 0;
}

static struct environment *catalog_create(struct environment_recipe *recipe, const char **ret_key,
                                          struct error *err)
{
    const struct environment_kind *kind = environment_kinds_find(recipe->definition);

    if (kind && node_environment_is_wanted(recipe->definition))
        return node_environment_new(recipe);
    if (kind)
        return kind->create(recipe, ret_key, err);
    *ret_key = "type";
    error_set(err, ERROR_CONFIG, "there is no environment type \"%s\"",
              text_or_none(json_object_get_string(recipe->definition, "type")));
    return NULL;
}

static struct environment_recipe catalog_recipe(const struct catalog *catalog, const char *name,
                                                const json_t *definition,
                                                const struct environment_settings *settings)
{
    return (struct environment_recipe){
        .name = name,
        .definition = definition,
        .settings = *settings,
        .loop = catalog->settings.loop,
        .host = catalog->settings.host,
        .state = catalog->settings.state,
        .instance = catalog->settings.instance,
        .container_init = catalog->settings.container_init,
        .proxy = catalog->settings.proxy,
        .written = &catalog->written,
        .kept = &catalog->kept,
        .nodes = catalog->settings.nodes,
    };
}

/* A new environment, owned by the caller. PATHS (taken) are the paths that a call has named, or
 * NULL. */
static struct environment *catalog_make(const struct catalog *catalog, const char *name,
                                        const json_t *definition,
                                        const struct environment_settings *defaults, char **paths,
                                        const char **ret_key, struct error *err)
{
    struct environment_recipe recipe = catalog_recipe(catalog, name, definition, defaults);
    struct environment *environment = NULL;

    *ret_key = NULL;
    recipe.settings.variables = NULL;
    recipe.settings.tools = NULL;
    recipe.settings.paths = paths;
    recipe.settings.functions =
        defaults->functions ? memory_copy_string(defaults->functions) : NULL;
    if (read_settings(&recipe, ret_key, err) == 0)
        environment = catalog_create(&recipe, ret_key, err);
    if (environment)
        environment_work_in(environment, catalog->settings.directory);
    environment_settings_deinit(&recipe.settings);
    return environment;
}

/* DEFINITION with the real paths of the operator's files: links that scripts make later are not
 * followed. New reference. */
static json_t *catalog_find_files(const json_t *definition)
{
    static const char *const keys[] = {"dockerfile", "requirements_file"};
    json_t *found = json_copy((json_t *)definition);

    for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
        const char *path = json_object_get_string(definition, keys[i]);
        AUTO_FREE char *real = path ? realpath(path, NULL) : NULL;

        if (real)
            json_object_set_new(found, keys[i], json_string(real));
    }
    return found;
}

int catalog_add(struct catalog *catalog, const char *name, const json_t *definition,
                const struct environment_settings *defaults, const char **ret_key,
                struct error *err)
{
    AUTO_JSON json_t *found = catalog_find_files(definition);
    struct environment *environment;

    *ret_key = NULL;
    if (catalog_find(catalog, name))
        return error_set(err, ERROR_CONFIG, "there is an environment \"%s\" already", name);
    environment = catalog_make(catalog, name, found, defaults, NULL, ret_key, err);
    if (!environment)
        return -1;
    catalog->environments =
        memory_resize(catalog->environments, (catalog->count + 1) * sizeof *catalog->environments);
    catalog->environments[catalog->count++] = environment;
    if (catalog->settings.state)
        survey_recall(catalog->settings.state, environment);
    return 0;
}

void catalog_complete(struct catalog *catalog)
{
    exposure_limit(catalog->environments, catalog->count);
    catalog_find_written(catalog);
}

/* Another configuration */

/* True when both were made from equal definitions and settings. */
static bool are_alike(const struct environment *a, const struct environment *b)
{
    return strcmp(a->name, b->name) == 0 && json_equal(a->definition, b->definition) &&
           environment_settings_are_equal(&a->settings, &b->settings);
}

/* Takes the environment that is like OTHER out of CATALOG; NULL when there is none. */
static struct environment *take_alike(struct catalog *catalog, const struct environment *other)
{
    for (size_t i = 0; i < catalog->count; i++)
        if (catalog->environments[i] && are_alike(catalog->environments[i], other))
            return STEAL_PTR(catalog->environments[i]);
    return NULL;
}

/* The environment of CATALOG that is like NEXT (taken), or NEXT, which begins then. */
static struct environment *catalog_settle(struct catalog *catalog, struct environment *next)
{
    struct environment *known = take_alike(catalog, next);

    if (!known) {
        environment_begin(next);
        return next;
    }
    environment_free(next);
    return known;
}

/* Takes ENVIRONMENT. */
static void catalog_retire(struct catalog *catalog, struct environment *environment)
{
    survey_forget(&catalog->survey, environment);
    retirement_add(&catalog->retirement, environment);
}

void catalog_replace(struct catalog *catalog, struct catalog *next)
{
    struct environment **environments = next->environments;
    size_t count = next->count;

    for (size_t i = 0; i < count; i++)
        environments[i] = catalog_settle(catalog, environments[i]);
    for (size_t i = 0; i < catalog->count; i++)
        if (catalog->environments[i])
            catalog_retire(catalog, STEAL_PTR(catalog->environments[i]));
    catalog_guard(catalog, &next->guarded, &next->guarded_folders);
    script_places_deinit(&catalog->kept);
    catalog->kept = next->kept;
    next->kept = (struct script_places){0};
    next->environments = catalog->environments;
    next->count = catalog->count;
    catalog->environments = environments;
    catalog->count = count;
    catalog_find_written(catalog);
    if (catalog->learned)
        catalog_survey_all(catalog);
    catalog_free(next);
}

/* Environments that calls have defined */

static char **copy_strings(const json_t *strings)
{
    char **copies = memory_new(json_array_size(strings) + 1, sizeof *copies);
    const json_t *string;
    size_t i;

    json_array_foreach (strings, i, string)
        copies[i] = memory_copy_string(json_string_value(string));
    return copies;
}

/* Passes the error of a constructor on to the caller who wrote the definition. */
static int blame_key(const char *key, const struct error *cause, struct error *err)
{
    return error_set(err, ERROR_INVALID_ARGUMENTS, "environment_definition%s%s: %s", key ? "." : "",
                     text_or_none(key), cause->message);
}

/* Keeps ENVIRONMENT (taken, or NULL) of OWNER under DIGEST. Returns it. */
static struct environment *catalog_keep(struct catalog *catalog, const char *digest,
                                        const char *owner, struct environment *environment)
{
    if (!environment)
        return NULL;
    shelf_put(catalog->shelf, digest, owner, environment);
    environment_begin(environment);
    return environment;
}

/* The environment for a definition of OWNER that has passed the rules. Borrowed, or NULL. */
static struct environment *catalog_shelve(struct catalog *catalog, const char *owner,
                                          const struct caller_rules *rules,
                                          const struct caller_definition *definition,
                                          struct error *err)
{
    char digest[DIGEST_TEXT_BYTES];
    struct error cause = ERROR_INIT;
    const char *key;
    struct environment *environment;

    environment_digest(definition->definition, caller_rules_settings(rules), digest);
    environment = shelf_find(catalog->shelf, digest);
    if (environment || shelf_make_room(catalog->shelf, owner, err) < 0)
        return environment;
    environment =
        catalog_make(catalog, CATALOG_DEFINED_NAME, definition->definition,
                     caller_rules_settings(rules), copy_strings(definition->paths), &key, &cause);
    if (environment)
        environment->settings.start =
            START_COLD; /* a caller could define many, each with its own */
    else
        (void)blame_key(key, &cause, err);
    return catalog_keep(catalog, digest, owner, environment);
}

/* Before anything is installed for an environment that can have no sandbox where scripts work. */
static int catalog_check_directory(const struct catalog *catalog,
                                   const struct environment *environment, struct error *err)
{
    if (!catalog->directory || environment_isolation(environment) != ISOLATION_SANDBOX)
        return 0;
    return sandbox_policy_check_place(environment, catalog->directory, err);
}

/* As catalog_shelve(), for the definition of RECIPE, which extends BASE. */
static struct environment *catalog_shelve_extension(struct catalog *catalog, const char *owner,
                                                    const struct environment *base,
                                                    struct environment_recipe *recipe,
                                                    struct error *err)
{
    char digest[DIGEST_TEXT_BYTES];
    struct environment *environment;

    environment_digest(recipe->definition, &recipe->settings, digest);
    environment = shelf_find(catalog->shelf, digest);
    if (environment || shelf_make_room(catalog->shelf, owner, err) < 0)
        return environment;
    return catalog_keep(catalog, digest, owner, extension_new(base, recipe, err));
}

/* The environment of the configuration that WRITTEN extends. Borrowed, or NULL. */
static const struct environment *catalog_find_base(const struct catalog *catalog,
                                                   const json_t *written, struct error *err)
{
    const json_t *written_name = json_object_get(written, EXTENSION_KEY);
    const char *name = json_string_value(written_name);
    const struct environment *base = name && strlen(name) == json_string_length(written_name)
                                         ? catalog_find(catalog, name)
                                         : NULL;

    if (!base)
        error_set(err, ERROR_INVALID_ARGUMENTS,
                  "environment_definition." EXTENSION_KEY ": there is no such environment");
    return base;
}

static struct environment *catalog_extend(struct catalog *catalog, const char *owner,
                                          const json_t *written, const struct caller_rules *rules,
                                          struct error *err)
{
    const struct environment *base = catalog_find_base(catalog, written, err);
    AUTO_JSON json_t *definition = NULL;
    struct environment_settings settings;
    struct environment_recipe recipe;
    struct environment *environment;

    if (!base)
        return NULL;
    definition = extension_settle(base, written, rules, err);
    if (!definition)
        return NULL;
    settings = extension_settings(base, rules);
    recipe = catalog_recipe(catalog, CATALOG_DEFINED_NAME, definition, &settings);
    environment = catalog_shelve_extension(catalog, owner, base, &recipe, err);
    environment_settings_deinit(&recipe.settings);
    return environment;
}

static struct environment *catalog_settle_definition(struct catalog *catalog, const char *owner,
                                                     const json_t *written,
                                                     const struct caller_rules *rules,
                                                     struct error *err)
{
    struct caller_definition settled;
    struct environment *environment;

    if (json_object_get(written, EXTENSION_KEY))
        return catalog_extend(catalog, owner, written, rules, err);
    if (caller_rules_settle(rules, written, &settled, err) < 0)
        return NULL;
    environment = catalog_shelve(catalog, owner, rules, &settled, err);
    caller_definition_deinit(&settled);
    return environment;
}

struct environment *catalog_define(struct catalog *catalog, const char *owner,
                                   const json_t *definition, const struct caller_rules *rules,
                                   struct error *err)
{
    const struct exposure_writers configured = {
        .environments = catalog->environments,
        .count = catalog->count,
        .guarded = catalog->guarded.paths,
        .guarded_folders = catalog->guarded_folders.paths,
    };
    struct environment *environment =
        catalog_settle_definition(catalog, owner, definition, rules, err);

    if (!environment || catalog_check_directory(catalog, environment, err) < 0 ||
        exposure_check(environment, &configured, err) < 0)
        return NULL;
    return environment;
}

struct environment *catalog_extend_session(struct catalog *catalog, const struct environment *base,
                                           const char *venv, const json_t *packages,
                                           const struct caller_rules *rules, struct error *err)
{
    AUTO_JSON json_t *definition = extension_settle_annex(base, packages, venv, err);
    struct environment_settings settings;
    struct environment_recipe recipe;
    struct environment *extension;

    if (!definition)
        return NULL;
    settings = extension_settings(base, rules);
    recipe = catalog_recipe(catalog, base->name, definition, &settings);
    extension = extension_new(base, &recipe, err);
    environment_settings_deinit(&recipe.settings);
    if (!extension)
        return NULL;
    environment_hold(extension);
    retirement_add(&catalog->retirement, extension);
    return extension;
}

bool catalog_has_defined(const struct catalog *catalog, const struct environment *environment)
{
    return shelf_has(catalog->shelf, environment);
}

int catalog_judge(const struct catalog *catalog, const struct environment *environment,
                  const struct caller_rules *rules, enum approval_policy *ret, struct error *err)
{
    const json_t *extending = extension_written(environment);
    const struct environment *base = NULL;

    if (extending) {
        base = catalog_find_base(catalog, extending, err);
        if (!base)
            return -1;
    }
    *ret = base ? extension_approval(base, rules) : caller_rules_settings(rules)->approval;
    return 0;
}

struct environment *catalog_redefine(struct catalog *catalog, const char *owner,
                                     const struct environment *environment,
                                     const struct caller_rules *rules, struct error *err)
{
    const json_t *extending = extension_written(environment);
    AUTO_JSON json_t *written =
        extending ? json_copy((json_t *)extending) : caller_rules_unsettle(environment->definition);

    return catalog_define(catalog, owner, written, rules, err);
}
