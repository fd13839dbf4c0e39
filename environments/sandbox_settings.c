#include "environments/sandbox_settings.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "environments/egress/destination.h"
#include "environments/place_guard.h"
#include "environments/real_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Every sandbox shows these read-only, and other programs of the machine live in them. */
static int sandbox_settings_check_write(const char *path, struct error *err)
{
    static const char *const places[] = {"/usr",   "/bin",   "/sbin",   "/lib",
                                         "/lib32", "/lib64", "/libx32", "/boot"};

    for (size_t i = 0; i < ARRAY_SIZE(places); i++)
        if (real_path_holds(places[i], path))
            return error_set(err, ERROR_CONFIG,
                             "%s %s a place of the system, which scripts never change", path,
                             strcmp(places[i], path) == 0 ? "is" : "lies in");
    return 0;
}

char *sandbox_settings_resolve(const char *path, const char *key, const char *state,
                               struct error *err)
{
    static const char system[] = "a place of the system";
    static const char homes[] = "name the directories in it that scripts need";
    const struct guarded_place places[] = {
        {getenv("HOME"), "the home of the server's user", homes},
        {"/home", "the place of the users' homes", homes},
        {"/root", "root's home", homes},
        {"/tmp", "the place of everybody's temporary files",
         "a sandbox has a /tmp of its own; name the directories in it that scripts need"},
        {"/etc", "the place of the machine's settings", "name the files in it that scripts need"},
        {.path = "/proc", .what = system},
        {.path = "/sys", .what = system},
        {.path = "/dev", .what = system},
        {.path = "/run", .what = system},
        {.path = "/var/run", .what = system},
        {.path = "/var/lib/docker", .what = system},
        {.path = "/var/lib/containers", .what = system},
        {.path = state, .what = "the server's own state"},
    };
    const struct place_guard guard = {"sandboxes", places, ARRAY_SIZE(places)};
    AUTO_FREE char *real = NULL;

    if (access(path, F_OK) < 0 && errno == ENOENT) {
        error_set(err, ERROR_UNAVAILABLE, "%s: %s; make it first", path, strerror(ENOENT));
        return NULL;
    }
    real = place_guard_resolve(&guard, path, err);
    if (!real || (strcmp(key, "write") == 0 && sandbox_settings_check_write(real, err) < 0))
        return NULL;
    return STEAL_PTR(real);
}

bool sandbox_settings_are_wanted(const json_t *definition)
{
    const char *isolation = json_object_get_string(definition, "isolation");

    return !isolation || strcmp(isolation, "none") != 0;
}

struct sandbox_settings sandbox_settings_copy(const struct sandbox_settings *settings)
{
    struct sandbox_settings copy = *settings;

    copy.read = memory_copy_strings((const char *const *)settings->read);
    copy.write = memory_copy_strings((const char *const *)settings->write);
    copy.hosts = memory_copy_strings((const char *const *)settings->hosts);
    return copy;
}

void sandbox_settings_deinit(struct sandbox_settings *settings)
{
    memory_free_strings(STEAL_PTR(settings->read));
    memory_free_strings(STEAL_PTR(settings->write));
    memory_free_strings(STEAL_PTR(settings->hosts));
}

/* Resolved, NULL-terminated. NULL with ERR. Owned by the caller. */
static char **sandbox_settings_read_paths(const json_t *definition, const char *key,
                                          const char *state, struct error *err)
{
    const json_t *list = json_object_get(definition, key);
    char **paths = memory_new(json_array_size(list) + 1, sizeof *paths);
    const json_t *path;
    size_t i;

    json_array_foreach (list, i, path) {
        paths[i] = sandbox_settings_resolve(json_string_value(path), key, state, err);
        if (!paths[i]) {
            memory_free_strings(paths);
            return NULL;
        }
    }
    return paths;
}

/* A read path must not lie in a place that scripts may change. */
static int sandbox_settings_check_nesting(const struct sandbox_settings *settings,
                                          struct error *err)
{
    for (char **read = settings->read; *read; read++)
        for (char **write = settings->write; *write; write++)
            if (real_path_holds(*write, *read))
                return error_set(err, ERROR_CONFIG,
                                 "%s lies in %s, which scripts may change (write)", *read, *write);
    return 0;
}

static int sandbox_settings_read_places(struct sandbox_settings *settings, const json_t *definition,
                                        const char *state, const char **ret_key, struct error *err)
{
    *ret_key = "write";
    settings->write = sandbox_settings_read_paths(definition, *ret_key, state, err);
    if (!settings->write)
        return -1;
    *ret_key = "read";
    settings->read = sandbox_settings_read_paths(definition, *ret_key, state, err);
    if (!settings->read)
        return -1;
    return sandbox_settings_check_nesting(settings, err);
}

static int sandbox_settings_read_network(struct sandbox_settings *settings, const json_t *network,
                                         struct error *err)
{
    const json_t *host;
    size_t i;

    if (!json_is_array(network)) {
        settings->network = settings->network || json_is_true(network);
        return 0;
    }
    settings->hosts = memory_new(json_array_size(network) + 1, sizeof *settings->hosts);
    json_array_foreach (network, i, host) {
        if (sandbox_settings_check_host(json_string_value(host), err) < 0)
            return -1;
        settings->hosts[i] = memory_copy_string(json_string_value(host));
    }
    return 0;
}

int sandbox_settings_check_host(const char *host, struct error *err)
{
    struct destination ignored;

    if (destination_parse_rule(host, &ignored))
        return 0;
    return error_set(
        err, ERROR_CONFIG,
        "must be a host and a port, such as packages.example.org:443, *.example.org:443, "
        "10.0.0.5:5432 or [2001:db8::1]:80, not \"%s\"",
        host);
}

static bool sandbox_settings_hold_path(char *const *paths, const char *path)
{
    for (; *paths; paths++)
        if (real_path_holds(*paths, path))
            return true;
    return false;
}

/* PATH (taken) is read, too. */
static void sandbox_settings_add_read(struct sandbox_settings *settings, char *path)
{
    size_t count = 0;

    while (settings->read[count])
        count++;
    settings->read = memory_resize(settings->read, (count + 2) * sizeof *settings->read);
    settings->read[count] = path;
    settings->read[count + 1] = NULL;
}

/* A script without a network can take nothing of it away. With hosts no sandbox is optional. */
static void sandbox_settings_add_start(struct sandbox_settings *settings)
{
    if (!settings->start || !settings->is_optional || settings->network ||
        sandbox_settings_hold_path(settings->read, settings->start) ||
        sandbox_settings_hold_path(settings->write, settings->start))
        return;
    sandbox_settings_add_read(settings, memory_copy_string(settings->start));
}

/* Without a sandbox a list of hosts would be void. */
static bool sandbox_settings_insist(const json_t *definition, const char *isolation)
{
    return (isolation && strcmp(isolation, "sandbox") == 0) ||
           json_is_array(json_object_get(definition, "network"));
}

void sandbox_settings_read_level(struct sandbox_settings *settings, const json_t *definition)
{
    const char *isolation = json_object_get_string(definition, "isolation");

    if (isolation && strcmp(isolation, "auto") != 0)
        settings->is_wanted = sandbox_settings_are_wanted(definition);
    if (json_object_get(definition, "require"))
        settings->required = true;
    if (settings->required || sandbox_settings_insist(definition, isolation))
        settings->is_optional = false;
}

/* The schema lets through "gpu" and nothing else. */
static void sandbox_settings_read_devices(struct sandbox_settings *settings, const json_t *devices)
{
    settings->gpu = json_array_size(devices) > 0;
}

int sandbox_settings_read(struct sandbox_settings *settings, const json_t *definition,
                          const char *state, const char **ret_key, struct error *err)
{
    sandbox_settings_read_level(settings, definition);
    if (!settings->is_wanted)
        return 0;
    *ret_key = "network";
    if (sandbox_settings_read_network(settings, json_object_get(definition, *ret_key), err) < 0)
        return -1;
    if (sandbox_settings_read_places(settings, definition, state, ret_key, err) < 0)
        return -1;
    sandbox_settings_add_start(settings);
    sandbox_settings_read_devices(settings, json_object_get(definition, "devices"));
    return 0;
}
