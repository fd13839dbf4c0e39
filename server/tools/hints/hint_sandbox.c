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

/* Why LAYER was absent, without its name; NULL: nobody says so. Borrowed. */
static const char *hint_find_reason(const struct hint_facts *facts, const char *layer)
{
    const json_t *containment = json_object_get(facts->structured, "containment");
    const json_t *text;
    size_t i;

    json_array_foreach (json_object_get(containment, "missing"), i, text) {
        const char *what = json_string_value(text);

        if (text_starts_with(what, layer) && text_starts_with(what + strlen(layer), ": "))
            return what + strlen(layer) + strlen(": ");
    }
    return NULL;
}

static const char *hint_reason(const struct hint_facts *facts, const char *layer)
{
    const char *reason = hint_find_reason(facts, layer);

    return reason ? reason : "this machine does not have it";
}

/* The layers that are absent, with the reasons. Owned by the caller; NULL: there are none. */
static char *hint_list_absent(const struct hint_facts *facts)
{
    const json_t *containment = json_object_get(facts->structured, "containment");
    char *list = NULL;
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
    return list;
}

/* Why a run has no sandbox at all: where it works, or what would keep it from files. Owned by the
 * caller. */
static char *hint_no_sandbox(const struct hint_facts *facts)
{
    const char *place = hint_find_reason(facts, "sandbox");

    if (place)
        return memory_format("This run had no sandbox: %s.", place);
    return memory_format(
        "This run had no sandbox: %s (%s), %s (%s).", process_layer_name(LAYER_ROOT),
        hint_reason(facts, process_layer_name(LAYER_ROOT)), process_layer_name(LAYER_FILES),
        hint_reason(facts, process_layer_name(LAYER_FILES)));
}

char *hint_missing_layer(const struct hint_facts *facts)
{
    const char *isolation = json_object_get_string(facts->structured, "isolation");
    AUTO_FREE char *absent = hint_list_absent(facts);

    if (!absent)
        return NULL;
    if (isolation && strcmp(isolation, isolation_name(ISOLATION_NONE)) == 0)
        return hint_no_sandbox(facts);
    return memory_format("The sandbox of this run was without: %s.", absent);
}

/* Who can open what is closed. */
static const char *hint_operator(const struct hint_facts *facts)
{
    return facts->is_at_terminal ? "The configuration" : "The operator";
}

/* The closed network */

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

/* True when the script has called pip, and that did not come to an end, or not to a good one. */
static bool hint_missed_packages(const struct hint_facts *facts)
{
    static const char *const types[] = {"subprocess.CalledProcessError",
                                        "subprocess.TimeoutExpired"};

    if (hint_prints(facts, "Could not find a version that satisfies the requirement ") ||
        hint_prints(facts, "WARNING: Retrying (Retry("))
        return true;
    for (size_t i = 0; i < ARRAY_SIZE(types); i++)
        if (hint_is_about(facts, types[i]) && strstr(facts->failure.message, "pip") &&
            strstr(facts->failure.message, "install"))
            return true;
    return false;
}

/* What clients say when the proxy of a run refuses them. */
static bool hint_was_refused_by_proxy(const struct hint_facts *facts)
{
    static const char *const words[] = {
        "Tunnel connection failed: 403 ",                  /* Python, and what is made of it */
        "CONNECT tunnel failed, response 403",             /* curl */
        "Received HTTP code 403 from proxy after CONNECT", /* curl before 8 */
        "Connection not allowed by ruleset",               /* by SOCKS */
    };

    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (hint_prints(facts, words[i]))
            return true;
    return false;
}

static char *hint_closed_index(const struct hint_facts *facts)
{
    AUTO_FREE char *advice = facts->is_at_terminal
                                 ? memory_copy_string("Name them in pip_packages of an environment "
                                                      "of type venv.")
                                 : package_advice(facts, NULL);

    return memory_format("This environment has no network: scripts cannot install packages. %s",
                         advice);
}

/* Of a run that reaches HOSTS only. */
static char *hint_hosts(const struct hint_facts *facts, char *const *hosts)
{
    AUTO_FREE char *list = NULL;

    if (!hint_was_refused_by_proxy(facts) && !hint_missed_network(facts))
        return NULL;
    list = hint_list_places(hosts);
    return memory_format("Scripts here reach nothing of the network but%s, and only through the "
                         "proxy that HTTPS_PROXY and ALL_PROXY name. %s can open more "
                         "(network).",
                         list + strlen(","), hint_operator(facts));
}

char *hint_network(const struct hint_facts *facts)
{
    const struct environment *other;

    if (!hint_is_enforced(facts, LAYER_NETWORK))
        return NULL;
    if (facts->environment->settings.sandbox.hosts)
        return hint_hosts(facts, facts->environment->settings.sandbox.hosts);
    if (hint_missed_packages(facts))
        return hint_closed_index(facts);
    if (!hint_missed_network(facts))
        return NULL;
    other = hint_find_network(facts);
    if (other)
        return memory_format("This environment has no network. Environment \"%s\" has one: call "
                             "with environment: \"%s\".",
                             other->name, other->name);
    return memory_format(
        "This environment has no network%s. %s can open it (network: true).",
        facts->is_at_terminal ? "" : ": work with what is there, and pass data in `files`",
        hint_operator(facts));
}

/* What is not shown */

/* True when PATH, an absolute one, has a part that is empty, "." or "..", or is the root. */
static bool hint_leads_elsewhere(const char *path)
{
    const char *part = path;

    do {
        const size_t length = strcspn(++part, "/");

        if (length <= 2 && strspn(part, ".") >= length)
            return true;
        part += length;
    } while (*part && part[1]);
    return false;
}

/* The absolute path in the message of an exception of TYPE that begins with WORDS, owned by the
 * caller. NULL: there is none, or it has parts that lead elsewhere. */
static char *hint_absolute_path(const struct hint_facts *facts, const char *type, const char *words)
{
    AUTO_FREE char *path = NULL;

    if (!hint_is_about(facts, type) || !text_starts_with(facts->failure.message, words))
        return NULL;
    path = hint_quoted(facts->failure.message + strlen(words));
    if (!path || *path != '/' || hint_leads_elsewhere(path))
        return NULL;
    return STEAL_PTR(path);
}

static char *hint_missing_path(const struct hint_facts *facts)
{
    return hint_absolute_path(facts, "FileNotFoundError", "[Errno 2] No such file or directory: ");
}

static char *hint_closed_path(const struct hint_facts *facts)
{
    AUTO_FREE char *path = hint_missing_path(facts);

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

/* True when PATH is, holds or is in what this sandbox shows, and not every one; or when that is not
 * known. */
static bool hint_is_opened(const struct hint_facts *facts, const char *path)
{
    const struct sandbox_settings *sandbox = &facts->environment->settings.sandbox;

    return !facts->directory || hint_is_near(path, facts->directory) ||
           hint_is_near_any(path, (const char *const *)sandbox->read) ||
           hint_is_near_any(path, (const char *const *)sandbox->write) ||
           hint_is_near_any(path, environment_needs(facts->environment));
}

/* True when PATH is, holds or is in what a sandbox shows, as far as it can be known. */
static bool hint_is_shown(const struct hint_facts *facts, const char *path)
{
    static const char *const everywhere[] = {
        "/bin", "/dev",  "/etc", "/lib", "/lib32", "/lib64",   "/libx32", "/proc",
        "/run", "/sbin", "/sys", "/tmp", "/usr",   "/var/tmp", NULL,
    };

    return hint_is_near_any(path, everywhere) || hint_is_opened(facts, path);
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
                         "and nothing else of the machine. %s%s can show more (read, write).",
                         path, hint_is_enforced(facts, LAYER_ROOT) ? ", /tmp" : "", write, read,
                         facts->is_at_terminal ? ""
                                               : "Use relative paths, and pass data in `files`. ",
                         hint_operator(facts));
}

/* What an earlier call has left in /tmp was in another one. */
char *hint_own_tmp(const struct hint_facts *facts)
{
    static const char *const own[] = {"/tmp", "/var/tmp", "/dev/shm", NULL};
    AUTO_FREE char *path = hint_is_enforced(facts, LAYER_ROOT) ? hint_missing_path(facts) : NULL;

    for (size_t i = 0; path && own[i]; i++)
        if (real_path_holds(own[i], path) && !hint_is_opened(facts, path))
            return memory_format("%s is each run's own and empty when it begins. Files for later "
                                 "runs belong in the working directory: use relative paths.",
                                 own[i]);
    return NULL;
}

/* True when the script has looked for PATH, in the working directory, below "~". */
static bool hint_meant_home(const struct hint_facts *facts, const char *path)
{
    static const char *const words[] = {"expanduser", ".home()", "HOME"};

    if (path[strlen(facts->directory) + 1] == '.')
        return true;
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (strstr(facts->code, words[i]))
            return true;
    return false;
}

char *hint_home(const struct hint_facts *facts)
{
    const json_t *variables = json_object_get(facts->environment->definition, "environment");
    AUTO_FREE char *path = hint_missing_path(facts);

    if (!path || !facts->directory || json_object_get(variables, "HOME") ||
        strcmp(path, facts->directory) == 0 || !real_path_holds(facts->directory, path) ||
        !hint_meant_home(facts, path))
        return NULL;
    return memory_copy_string("~ is the working directory here, not the home of a user: nothing of "
                              "such a home is there.");
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
        "%s can open more (write).",
        write, hint_operator(facts));
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
                              "without; only another `isolation` in the configuration allows it.");
}
