#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "environments/environment.h"
#include "environments/real_path.h"
#include "server/tools/hints/hint_table.h"
#include "server/tools/hints/package_advice.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

static const struct process_receipt *hint_receipt(const struct hint_facts *facts)
{
    return &facts->run->report->execution.receipt;
}

bool hint_is_enforced(const struct hint_facts *facts, enum process_layer layer)
{
    return hint_receipt(facts)->layers & layer;
}

bool hint_is_absent(const struct hint_facts *facts, enum process_layer layer)
{
    return process_receipt_absent(hint_receipt(facts)) & layer;
}

bool hint_is_contained(const struct hint_facts *facts)
{
    return hint_is_enforced(facts, LAYER_CONTAINER);
}

bool hint_has_own_files(const struct hint_facts *facts)
{
    return hint_is_enforced(facts, LAYER_ROOT) || hint_is_enforced(facts, LAYER_FILES);
}

/* For every hint about closed places; see hint.h */

char *hint_list_places(char *const *places)
{
    char *list = memory_copy_string("");

    for (size_t i = 0; places && places[i]; i++) {
        char *longer = memory_format("%s, %s", list, places[i]);

        free(list);
        list = longer;
    }
    return list;
}

bool hint_prints(const struct hint_facts *facts, const char *words)
{
    return strstr(facts->errors, words) || strstr(facts->output, words);
}

const char *hint_operator(const struct hint_facts *facts)
{
    return facts->is_at_terminal ? "The configuration" : "The operator";
}

/* Missing layers */

/* Why LAYER was absent, without its name; NULL: no reason is given. Borrowed. */
static const char *hint_find_reason(const struct hint_facts *facts, const char *layer)
{
    const json_t *text;
    size_t i;

    json_array_foreach (hint_receipt(facts)->missing, i, text) {
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
    AUTO_JSON json_t *names = process_layer_names(process_receipt_absent(hint_receipt(facts)));
    char *list = NULL;
    const json_t *name;
    size_t i;

    json_array_foreach (names, i, name) {
        AUTO_FREE char *former = list;

        list = memory_format("%s%s%s (%s)", text_or_none(former), former ? ", " : "",
                             json_string_value(name), hint_reason(facts, json_string_value(name)));
    }
    return list;
}

/* Why a run has no sandbox at all: because of its directory, or of the missing layers that keep
 * scripts from files. Owned by the caller. */
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
    AUTO_FREE char *absent = hint_list_absent(facts);

    if (!absent)
        return NULL;
    if (process_receipt_isolation(hint_receipt(facts)) == ISOLATION_NONE)
        return hint_no_sandbox(facts);
    return memory_format("The sandbox of this run was without: %s.", absent);
}

/* Hidden paths */

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

static char *hint_denied_path(const struct hint_facts *facts)
{
    return hint_absolute_path(facts, "PermissionError", "[Errno 13] Permission denied: ");
}

/* The absolute path that begins the arguments of the only CALL, "connect(", in the code. Owned by
 * the caller; NULL: it is not known. */
static char *hint_path_in_call(const struct hint_facts *facts, const char *call)
{
    const char *quote = strstr(facts->code->text, call);
    size_t length;

    if (!quote)
        return NULL;
    quote += strlen(call);
    if ((*quote != '\'' && *quote != '"') || quote[1] != '/' || strstr(quote, call))
        return NULL;
    length = strcspn(quote + 1, "'\"\n");
    if (quote[1 + length] != *quote || !strchr("),", quote[2 + length]))
        return NULL;
    return memory_format("%.*s", (int)length, quote + 1);
}

/* SQLite does not say which file it could not open. Owned by the caller; NULL: another error, or
 * the file is not known. */
static char *hint_database_path(const struct hint_facts *facts)
{
    AUTO_FREE char *path = NULL;

    if (!hint_is_about(facts, "sqlite3.OperationalError") ||
        strcmp(facts->failure.message, "unable to open database file") != 0)
        return NULL;
    path = hint_path_in_call(facts, "connect(");
    return !path || hint_leads_elsewhere(path) ? NULL : STEAL_PTR(path);
}

static char *hint_closed_path(const struct hint_facts *facts)
{
    char *path = hint_missing_path(facts);

    if (!path)
        path = hint_denied_path(facts);
    return path ? path : hint_database_path(facts);
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

/* True when PATH is, holds or is in a place that this sandbox shows but not every sandbox; or when
 * the directory is not known. */
static bool hint_is_opened(const struct hint_facts *facts, const char *path)
{
    const struct sandbox_settings *sandbox = &facts->environment->settings.sandbox;

    return !facts->directory || hint_is_near(path, facts->directory) ||
           hint_is_near_any(path, (const char *const *)sandbox->read) ||
           hint_is_near_any(path, (const char *const *)sandbox->write) ||
           hint_is_near_any(path, environment_needs(facts->environment));
}

/* True when PATH is, holds or is in a place that a sandbox shows, as far as is known. */
static bool hint_is_shown(const struct hint_facts *facts, const char *path)
{
    static const char *const everywhere[] = {
        "/bin",   "/dev",   "/etc/fonts", "/etc/pki", "/etc/ssl", "/etc/terminfo", "/lib",
        "/lib32", "/lib64", "/libx32",    "/proc",    "/run",     "/sbin",         "/sys",
        "/tmp",   "/usr",   "/var/run",   "/var/tmp", NULL,
    };

    return hint_is_near_any(path, everywhere) || hint_is_opened(facts, path);
}

static const char *hint_relative_advice(const struct hint_facts *facts)
{
    if (facts->is_at_terminal)
        return "";
    return hint_takes_files(facts) ? "Use relative paths, and pass data in `files`. "
                                   : "Use relative paths. ";
}

/* A caller must not learn whether there is such a file on the machine. */
char *hint_hidden_path(const struct hint_facts *facts)
{
    const struct sandbox_settings *sandbox = &facts->environment->settings.sandbox;
    AUTO_FREE char *path = hint_has_own_files(facts) ? hint_closed_path(facts) : NULL;
    AUTO_FREE char *read = hint_list_places(sandbox->read);
    AUTO_FREE char *write = hint_list_places(sandbox->write);

    if (!path || hint_is_shown(facts, path))
        return NULL;
    return memory_format("%s is not shown to scripts here: they have the working directory%s%s%s "
                         "and nothing else but programs of the system. %s%s can show more (read, "
                         "write).",
                         path, hint_is_enforced(facts, LAYER_ROOT) ? ", /tmp" : "", write, read,
                         hint_relative_advice(facts), hint_operator(facts));
}

/* The files of an earlier call were in another /tmp. */
char *hint_own_tmp(const struct hint_facts *facts)
{
    static const char *const own[] = {"/tmp", "/var/tmp", "/dev/shm", NULL};
    AUTO_FREE char *path = hint_is_enforced(facts, LAYER_ROOT) ? hint_missing_path(facts) : NULL;

    for (size_t i = 0; path && own[i]; i++)
        if (real_path_holds(own[i], path) && !hint_is_opened(facts, path))
            return memory_format("%s is each %s's own and empty when it begins. Files for later "
                                 "ones belong in the working directory: use relative paths.",
                                 own[i], facts->run->setting->session ? "session" : "run");
    return NULL;
}

/* True when the script has looked for PATH, in the working directory, below "~". */
static bool hint_meant_home(const struct hint_facts *facts, const char *path)
{
    static const char *const words[] = {"expanduser", ".home()", "HOME"};

    if (path[strlen(facts->directory) + 1] == '.')
        return true;
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (strstr(facts->code->text, words[i]))
            return true;
    return false;
}

/* True when the operator has given scripts another home. */
static bool hint_has_other_home(const struct environment *environment)
{
    for (char **variable = environment->settings.variables; variable && *variable; variable++)
        if (text_starts_with(*variable, "HOME="))
            return true;
    return false;
}

char *hint_home(const struct hint_facts *facts)
{
    AUTO_FREE char *path = hint_missing_path(facts);

    if (!path || !facts->directory || hint_has_other_home(facts->environment) ||
        strcmp(path, facts->directory) == 0 || !real_path_holds(facts->directory, path) ||
        !hint_meant_home(facts, path))
        return NULL;
    if (!hint_has_own_files(facts))
        return memory_copy_string("~ is the working directory here, not the home of a user: "
                                  "nothing of such a home is there.");
    return memory_format("~ is the working directory here, not the home of a user: nothing of such "
                         "a home is there. %s can show directories of it, in their own places "
                         "(read).",
                         hint_operator(facts));
}

/* True when the script was about to change a file that it can only read. */
static bool hint_could_not_write(const struct hint_facts *facts)
{
    const bool has_root = hint_is_enforced(facts, LAYER_ROOT);
    AUTO_FREE char *path =
        has_root ? hint_absolute_path(facts, "OSError", "[Errno 30] Read-only file system: ")
                 : hint_denied_path(facts);

    if (!path || (facts->directory && real_path_holds(facts->directory, path)))
        return false;
    return has_root || (facts->directory && hint_is_shown(facts, path));
}

static bool hint_could_not_write_database(const struct hint_facts *facts)
{
    return hint_is_about(facts, "sqlite3.OperationalError") &&
           strcmp(facts->failure.message, "attempt to write a readonly database") == 0;
}

/* The root file system of a container cannot be written to. */
static char *hint_read_only_container(const struct hint_facts *facts)
{
    AUTO_FREE char *path =
        hint_absolute_path(facts, "OSError", "[Errno 30] Read-only file system: ");

    if (!path)
        return NULL;
    return memory_copy_string("Scripts here can write to the working directory and /tmp, and not "
                              "to the files of the image: use relative paths.");
}

char *hint_read_only(const struct hint_facts *facts)
{
    AUTO_FREE char *write = hint_list_places(facts->environment->settings.sandbox.write);
    const bool is_database = hint_could_not_write_database(facts);

    if (hint_is_contained(facts))
        return hint_read_only_container(facts);
    if (!hint_has_own_files(facts) || (!is_database && !hint_could_not_write(facts)))
        return NULL;
    return memory_format(
        "Scripts here can write to the working directory%s%s and nowhere else: %s. "
        "%s can open more (write).",
        hint_is_enforced(facts, LAYER_ROOT) ? ", /tmp" : "", write,
        is_database ? "work on a copy of the database" : "use relative paths",
        hint_operator(facts));
}

/* The relative path that could not be written. Owned by the caller; NULL: another error, or the
 * path is not known. */
static char *hint_relative_path(const struct hint_facts *facts)
{
    const bool has_root = hint_is_enforced(facts, LAYER_ROOT);
    const char *words = has_root ? "[Errno 30] Read-only file system: '" //
                                 : "[Errno 13] Permission denied: '";
    AUTO_FREE char *path = NULL;

    if (!hint_is_about(facts, has_root ? "OSError" : "PermissionError") ||
        !text_starts_with(facts->failure.message, words))
        return NULL;
    path = hint_quoted(facts->failure.message);
    if (!path || *path == '/' || strstr(path, "..") || strcmp(path, "script.py") == 0)
        return NULL;
    return STEAL_PTR(path);
}

/* Without a root of its own a script is denied to read as well as to write: if the file is missing,
 * the script was about to make it. */
static bool hint_was_to_write(const struct hint_facts *facts, const char *place, const char *path)
{
    AUTO_FREE char *whole = memory_format("%s/%s", place, path);
    struct stat status;

    return hint_is_enforced(facts, LAYER_ROOT) || (lstat(whole, &status) < 0 && errno == ENOENT);
}

static bool hint_can_write(const struct hint_facts *facts, const char *place)
{
    static const char *const own[] = {"/tmp", "/var/tmp", NULL};
    char *const *opened = facts->environment->settings.sandbox.write;

    for (size_t i = 0; hint_is_enforced(facts, LAYER_ROOT) && own[i]; i++)
        if (real_path_holds(own[i], place))
            return true;
    for (; opened && *opened; opened++)
        if (real_path_holds(*opened, place))
            return true;
    return real_path_holds("/dev", place) || real_path_holds(facts->directory, place);
}

char *hint_left_directory(const struct hint_facts *facts)
{
    AUTO_FREE char *place = hint_path_in_call(facts, "chdir(");
    AUTO_FREE char *path = place ? hint_relative_path(facts) : NULL;
    AUTO_FREE char *write = hint_list_places(facts->environment->settings.sandbox.write);

    if (!path || !facts->directory || !hint_has_own_files(facts) ||
        (place[1] && hint_leads_elsewhere(place)) || hint_can_write(facts, place) ||
        !hint_was_to_write(facts, place, path))
        return NULL;
    return memory_format("After os.chdir(\"%s\") relative paths lead there. Scripts here can write "
                         "to the working directory%s%s and nowhere else: leave that call out.",
                         place, hint_is_enforced(facts, LAYER_ROOT) ? ", /tmp" : "", write);
}

/* Refused calls */

/* True when the script has failed by itself, or by a program that it has called. */
static bool hint_was_refused(const struct hint_facts *facts)
{
    if (facts->run->returncode == -SIGSYS)
        return true;
    if (hint_is_about(facts, "PermissionError"))
        return text_starts_with(facts->failure.message, "[Errno 1] ");
    return hint_is_about(facts, "subprocess.CalledProcessError") &&
           strstr(facts->errors, ": Operation not permitted\n");
}

char *hint_refused_call(const struct hint_facts *facts)
{
    if (!hint_is_enforced(facts, LAYER_CALLS))
        return NULL;
    if (hint_was_refused(facts))
        return memory_copy_string(
            "The sandbox refused that: scripts here have no rights over the machine, such as to "
            "mount, to trace or to change owners. Do it without; only another `isolation` in the "
            "configuration allows it.");
    if (hint_is_about(facts, "OSError") && text_starts_with(facts->failure.message, "[Errno 38] "))
        return memory_copy_string("The sandbox, or the kernel, does not have that system call. Do "
                                  "it without; at most another `isolation` in the configuration "
                                  "allows it.");
    return NULL;
}

/* True for messages of apt-get, whatever program calls it, that it may not change the system. */
static bool hint_could_not_install(const struct hint_facts *facts)
{
    return hint_prints(facts, "E: Could not open lock file ") ||
           hint_prints(facts, "E: List directory /var/lib/apt/lists/partial is missing") ||
           hint_prints(facts, "E: Unable to acquire the dpkg frontend lock");
}

char *hint_system_packages(const struct hint_facts *facts)
{
    if ((!hint_has_own_files(facts) && !hint_is_contained(facts)) || !hint_could_not_install(facts))
        return NULL;
    return memory_format("Scripts here cannot install programs: nothing of the system can be "
                         "changed. Work with what is there. %s can install more.",
                         facts->is_at_terminal ? "An administrator" : "The operator");
}

/* A shell that finds no sudo, or sudo itself, which the kernel gives no rights. */
char *hint_administrator(const struct hint_facts *facts)
{
    static const char *const words[] = {
        "sudo: not found", "sudo: command not found", "No such file or directory: 'sudo'",
        "sudo: The \"no new privileges\" flag is set", "sudo: effective uid is not 0"};

    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (hint_prints(facts, words[i]))
            return memory_copy_string("sudo does not work here: scripts have no rights of an "
                                      "administrator. Do it without.");
    return NULL;
}
