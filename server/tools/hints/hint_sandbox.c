#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "environments/environment.h"
#include "environments/real_path.h"
#include "server/tools/hints/hint_table.h"
#include "server/tools/hints/package_advice.h"

#include <string.h>

/* The state of a layer in the result; "" for one that a run of this kind does not have. */
static const char *hint_layer(const struct hint_facts *facts, enum process_layer layer)
{
    const json_t *containment = json_object_get(facts->structured, "containment");
    const char *state =
        json_object_get_string(json_object_get(containment, "layers"), process_layer_name(layer));

    return text_or_none(state);
}

static bool hint_is_enforced(const struct hint_facts *facts, enum process_layer layer)
{
    return strcmp(hint_layer(facts, layer), "enforced") == 0;
}

/* True when the script is kept from the files of the machine. */
static bool hint_has_own_files(const struct hint_facts *facts)
{
    return hint_is_enforced(facts, LAYER_ROOT) || hint_is_enforced(facts, LAYER_FILES);
}

/* What a sandbox lacks */

/* Why LAYER was absent, without its name. Borrowed. */
static const char *hint_reason(const struct hint_facts *facts, const char *layer)
{
    const json_t *containment = json_object_get(facts->structured, "containment");
    const json_t *text;
    size_t i;

    json_array_foreach (json_object_get(containment, "missing"), i, text) {
        const char *what = json_string_value(text);

        if (text_starts_with(what, layer) && text_starts_with(what + strlen(layer), ": "))
            return what + strlen(layer) + strlen(": ");
    }
    return "this machine does not have it";
}

char *hint_missing_layer(const struct hint_facts *facts)
{
    const json_t *containment = json_object_get(facts->structured, "containment");
    char *list = NULL;
    AUTO_FREE char *absent = NULL;
    const char *name;
    json_t *state;

    json_object_foreach (json_object_get(containment, "layers"), name, state) {
        char *longer;

        if (strcmp(json_string_value(state), "absent") != 0)
            continue;
        longer = memory_format("%s%s%s (%s)", text_or_none(list), list ? ", " : "", name,
                               hint_reason(facts, name));
        free(list);
        list = longer;
    }
    absent = list;
    return absent ? memory_format("The sandbox of this run was without: %s.", absent) : NULL;
}

/* The closed network */

static bool hint_prints(const struct hint_facts *facts, const char *words)
{
    const char *errors = json_object_get_string(facts->structured, "stderr");
    const char *output = json_object_get_string(facts->structured, "stdout");

    return (errors && strstr(errors, words)) || (output && strstr(output, words));
}

/* What Python, and libraries and programs that scripts use, say of a network that is not there. */
static bool hint_missed_network(const struct hint_facts *facts)
{
    static const char *const words[] = {
        "[Errno -2] Name or service not known",
        "[Errno -3] Temporary failure in name resolution",
        "[Errno -5] No address associated with hostname",
        "[Errno 101] Network is unreachable",
        "[Temporary failure in name resolution]", /* aiohttp */
        "Could not resolve host: ",               /* curl, git */
    };

    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (hint_prints(facts, words[i]))
            return true;
    return false;
}

/* What a caller may name and has a network. */
static const struct environment *hint_find_network(const struct hint_facts *facts)
{
    for (size_t i = 0; facts->offered[i]; i++) {
        const struct environment *other = facts->offered[i];

        if (environment_isolation(other) == ISOLATION_NONE ||
            (other->settings.sandbox.is_wanted && other->settings.sandbox.network))
            return other;
    }
    return NULL;
}

char *hint_network(const struct hint_facts *facts)
{
    const struct environment *other;
    AUTO_FREE char *advice = NULL;

    if (!hint_is_enforced(facts, LAYER_NETWORK) || !hint_missed_network(facts))
        return NULL;
    if (hint_prints(facts, "Could not find a version that satisfies the requirement ")) {
        advice = package_advice(facts, NULL);
        return memory_format("This environment has no network: scripts cannot install packages. %s",
                             advice);
    }
    other = hint_find_network(facts);
    if (other)
        return memory_format("This environment has no network. Environment \"%s\" has one: call "
                             "with environment: \"%s\".",
                             other->name, other->name);
    return memory_copy_string("This environment has no network: work with what is there, and pass "
                              "data in `files`. The operator can open it (network: true).");
}

/* What is not shown */

/* The absolute path in the message of an exception of TYPE that begins with WORDS, owned by the
 * caller. NULL: there is none, or it has parts that lead elsewhere. */
static char *hint_absolute_path(const struct hint_facts *facts, const char *type, const char *words)
{
    AUTO_FREE char *path = NULL;

    if (!hint_is_about(facts, type) || !text_starts_with(facts->failure.message, words))
        return NULL;
    path = hint_quoted(facts->failure.message + strlen(words));
    if (!path || *path != '/' || !path[1] || strstr(path, "/.") || strstr(path, "//"))
        return NULL;
    return STEAL_PTR(path);
}

static char *hint_closed_path(const struct hint_facts *facts)
{
    AUTO_FREE char *path =
        hint_absolute_path(facts, "FileNotFoundError", "[Errno 2] No such file or directory: ");

    return path ? STEAL_PTR(path)
                : hint_absolute_path(facts, "PermissionError", "[Errno 13] Permission denied: ");
}

static bool hint_is_near(const char *path, const char *shown)
{
    return real_path_holds(path, shown) || real_path_holds(shown, path);
}

static bool hint_is_near_any(const char *path, const char *const *shown)
{
    for (; shown && *shown; shown++)
        if (hint_is_near(path, *shown))
            return true;
    return false;
}

/* True when PATH is, holds or is in what a sandbox shows, as far as it can be known. */
static bool hint_is_shown(const struct hint_facts *facts, const char *path)
{
    static const char *const everywhere[] = {
        "/bin", "/dev",  "/etc", "/lib", "/lib32", "/lib64",   "/libx32", "/proc",
        "/run", "/sbin", "/sys", "/tmp", "/usr",   "/var/tmp", NULL,
    };
    const struct sandbox_settings *sandbox = &facts->environment->settings.sandbox;

    return !facts->directory || hint_is_near(path, facts->directory) ||
           hint_is_near_any(path, everywhere) ||
           hint_is_near_any(path, (const char *const *)sandbox->read) ||
           hint_is_near_any(path, (const char *const *)sandbox->write) ||
           hint_is_near_any(path, environment_needs(facts->environment));
}

/* ", /srv/a, /srv/b". Owned by the caller. */
static char *hint_list_places(char *const *places)
{
    char *list = memory_copy_string("");

    for (size_t i = 0; places && places[i]; i++) {
        char *longer = memory_format("%s, %s", list, places[i]);

        free(list);
        list = longer;
    }
    return list;
}

/* Whether there is such a file on the machine is nothing that a caller may learn. */
char *hint_hidden_path(const struct hint_facts *facts)
{
    const struct sandbox_settings *sandbox = &facts->environment->settings.sandbox;
    AUTO_FREE char *path = hint_has_own_files(facts) ? hint_closed_path(facts) : NULL;
    AUTO_FREE char *read = hint_list_places(sandbox->read);
    AUTO_FREE char *write = hint_list_places(sandbox->write);

    if (!path || hint_is_shown(facts, path))
        return NULL;
    return memory_format("%s is not shown to scripts here: they have the working directory%s%s%s "
                         "and nothing else of the machine. Use relative paths, and pass data in "
                         "`files`. The operator can show more (read, write).",
                         path, hint_is_enforced(facts, LAYER_ROOT) ? ", /tmp" : "", write, read);
}

/* Only of a root of its own is everything else mounted so. */
char *hint_read_only(const struct hint_facts *facts)
{
    const struct sandbox_settings *sandbox = &facts->environment->settings.sandbox;
    AUTO_FREE char *path =
        hint_is_enforced(facts, LAYER_ROOT)
            ? hint_absolute_path(facts, "OSError", "[Errno 30] Read-only file system: ")
            : NULL;
    AUTO_FREE char *write = hint_list_places(sandbox->write);

    if (!path || (facts->directory && real_path_holds(facts->directory, path)))
        return NULL;
    return memory_format(
        "Scripts here can write to the working directory, /tmp%s and nowhere else. "
        "The operator can open more (write).",
        write);
}

/* Refused calls */

char *hint_refused_call(const struct hint_facts *facts)
{
    const char *signal = json_object_get_string(facts->structured, "signal");
    const bool is_killed = signal && strcmp(signal, "SIGSYS") == 0;

    if (!hint_is_enforced(facts, LAYER_CALLS) ||
        (!is_killed && !(hint_is_about(facts, "PermissionError") &&
                         text_starts_with(facts->failure.message, "[Errno 1] "))))
        return NULL;
    return memory_copy_string("The sandbox refused that: scripts here have no rights over the "
                              "machine, such as to mount, to trace or to change owners. Do it "
                              "without; only another `isolation` of the operator's allows it.");
}
