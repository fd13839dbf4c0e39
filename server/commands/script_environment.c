#include "server/commands/script_environment.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "environments/callers/caller_rules.h"
#include "environments/catalog/catalog.h"
#include "environments/packages/requirement.h"
#include "environments/process/host.h"
#include "environments/process/policy.h"
#include "server/commands/named_python.h"
#include "server/commands/options.h"
#include "server/service.h"
#include "server/tools/code/code_cleaning.h"
#include "server/tools/code/script_block.h"
#include "server/tools/hints/run_facts.h"
#include "server/transport/socket/peer.h"

#include <string.h>

static bool script_environment_is_asked_for(const struct options *options)
{
    return options->packages[0] || options->python;
}

/* ASKER names PACKAGE. */
static int script_environment_check_package(const char *asker, const char *package,
                                            struct error *err)
{
    struct requirement requirement;
    struct error reason = ERROR_INIT;

    if (requirement_parse(&requirement, package, strlen(package), &reason) < 0)
        return error_set(err, ERROR_USAGE,
                         "%s \"%s\": %s; name a package as pip does, such as numpy or "
                         "\"requests[socks]>=2.31\"",
                         asker, package, reason.message);
    requirement_deinit(&requirement);
    return 0;
}

/* DEFINITION is what the script's block asks for, or NULL. */
static int script_environment_check_block(const json_t *definition, struct error *err)
{
    const char *version = json_object_get_string(definition, "python_version");
    const json_t *package;
    size_t i;

    json_array_foreach (json_object_get(definition, "pip_packages"), i, package)
        if (script_environment_check_package(
                "dependencies of the script's block:", json_string_value(package), err) < 0)
            return -1;
    return version
               ? named_python_check_version("requires-python of the script's block:", version, err)
               : 0;
}

/* Adds the packages of OPTIONS to the packages of the block. */
static int script_environment_extend(json_t *definition, const struct options *options,
                                     struct error *err)
{
    json_t *packages = json_object_get(definition, "pip_packages");

    if (!packages && options->packages[0]) {
        packages = json_array();
        json_object_set_new(definition, "pip_packages", packages);
    }
    for (const char *const *package = options->packages; *package; package++) {
        if (script_environment_check_package("--with", *package, err) < 0)
            return -1;
        json_array_append_new(packages, json_string(*package));
    }
    return 0;
}

/* A Python at a path runs the script itself, with its packages, unless others are wanted: a virtual
 * environment is made of it then. */
static int script_environment_set_python(json_t *definition, const char *named, struct error *err)
{
    AUTO_FREE char *path = NULL;

    json_object_del(definition, "python_version"); /* of the block */
    if (named_python_is_version(named)) {
        if (named_python_check_version("--python", named, err) < 0)
            return -1;
        json_object_set_new(definition, "python_version", json_string(named));
        return 0;
    }
    path = named_python_find(named, err);
    if (!path)
        return -1;
    if (json_array_size(json_object_get(definition, "pip_packages")) > 0) {
        json_object_set_new(definition, "python_path", json_string(path));
        return 0;
    }
    json_object_clear(definition);
    json_object_set_new(definition, "type", json_string("system"));
    json_object_set_new(definition, "executable", json_string(path));
    return 0;
}

/* *RET is a new reference, or NULL where nothing is asked for. */
static int script_environment_define(const struct options *options,
                                     const struct code_cleaning *code, json_t **ret,
                                     struct error *err)
{
    if (script_block_read(code->text, code->length, ret, err) < 0 ||
        script_environment_check_block(*ret, err) < 0)
        return -1;
    if (!script_environment_is_asked_for(options))
        return 0;
    if (!*ret)
        *ret = json_pack("{s:s}", "type", "venv");
    if (script_environment_extend(*ret, options, err) < 0)
        return -1;
    return options->python ? script_environment_set_python(*ret, options->python, err) : 0;
}

/* Takes the rules of callers, but any Python may be named here. */
static struct environment *script_environment_make(const struct options *options,
                                                   const json_t *definition,
                                                   const struct service *service, struct error *err)
{
    AUTO_FREE char *principal = peer_own_principal();
    AUTO_JSON json_t *images = json_array();
    AUTO_JSON json_t *paths = json_pack("[s]", "/");
    const struct process_sandbox all = {0};
    size_t ignored;
    struct caller_rules *rules =
        caller_rules_new(images, paths, caller_rules_settings(service->rules), &ignored, err);
    struct environment *environment =
        catalog_define(service->catalog, principal, definition, rules, err);

    caller_rules_free(rules);
    if (options->python)
        process_host_try_root(service->host);
    if (environment)
        environment->settings.sandbox.holds_python =
            options->python && process_host_receipt(service->host, &all).layers & LAYER_ROOT;
    else
        error_prefix(err, script_environment_is_asked_for(options)
                              ? "--with and --python cannot be followed"
                              : "the script's block (# /// script) cannot be used");
    return environment;
}

/* A container holds its scripts without a sandbox. */
static int script_environment_hold(struct environment *environment, struct error *err)
{
    struct sandbox_settings *sandbox = &environment->settings.sandbox;

    if (environment->ops->kind->isolation == ISOLATION_DOCKER)
        return 0;
    if (!sandbox->is_wanted)
        return error_set(err, ERROR_USAGE,
                         "--require sandbox: by the configuration environment \"%s\" has none",
                         environment->name);
    sandbox->is_optional = false;
    sandbox->required = true;
    return 0;
}

static struct environment *script_environment_find(const struct options *options,
                                                   const struct code_cleaning *code,
                                                   const struct service *service, struct error *err)
{
    AUTO_JSON json_t *definition = NULL;

    if (options->environment && script_environment_is_asked_for(options)) {
        error_set(err, ERROR_USAGE,
                  "--env %s has packages and a Python of its own: leave it out, or --with and "
                  "--python",
                  options->environment);
        return NULL;
    }
    if (options->environment)
        return service_find_environment(service, options->environment, err);
    if (script_environment_define(options, code, &definition, err) < 0)
        return NULL;
    if (definition)
        return script_environment_make(options, definition, service, err);
    return service_find_environment(service, service->default_environment, err);
}

static struct environment *script_environment_choose(const struct options *options,
                                                     const struct code_cleaning *code,
                                                     const struct service *service,
                                                     struct error *err)
{
    struct environment *environment = script_environment_find(options, code, service, err);

    if (environment && options->require_sandbox && script_environment_hold(environment, err) < 0)
        return NULL;
    return environment;
}

int script_environment_set(const struct options *options, const struct code_cleaning *code,
                           const struct service *service, struct run_setting *ret,
                           struct error *err)
{
    struct environment *environment = script_environment_choose(options, code, service, err);

    if (!environment)
        return -1;
    if (options->timeout > environment->settings.max_timeout)
        return error_set(err, ERROR_USAGE, "--timeout %g: environment \"%s\" allows at most %g",
                         options->timeout, environment->name, environment->settings.max_timeout);
    *ret = (struct run_setting){
        .environment = environment,
        .timeout = options->timeout > 0 ? options->timeout : environment->settings.timeout,
    };
    return 0;
}
