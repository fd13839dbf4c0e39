#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/visible.h"
#include "environments/environment.h"
#include "environments/real_path.h"
#include "server/tools/hints/directory_names.h"
#include "server/tools/hints/hint_table.h"

#include <string.h>

/* The file that Python has not found, owned by the caller; NULL: it was a program, or it is not
 * certain where it was looked for, as in a session, whose earlier cells may have changed the
 * directory. */
static char *hint_find_file(const struct hint_facts *facts)
{
    static const char words[] = "[Errno 2] No such file or directory: '";

    if (!hint_is_about(facts, "FileNotFoundError") ||
        !text_starts_with(facts->failure.message, words) || strstr(facts->code->text, "chdir") ||
        facts->run->setting->session || !facts->directory || !facts->failure.innermost ||
        strstr(facts->failure.innermost, "_execute_child"))
        return NULL;
    return hint_quoted(facts->failure.message + strlen(words) - 1);
}

/* The part behind the last slash. */
static const char *hint_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

char *hint_readable_places(const struct hint_facts *facts)
{
    AUTO_FREE char *list = hint_list_places(facts->environment->settings.sandbox.read);

    if (!*list || !hint_has_own_files(facts))
        return memory_copy_string("");
    return memory_format(" Scripts here can also read %s: use absolute paths for that.",
                         list + strlen(", "));
}

/* Its name is not in the directory, and it has no path. */
static char *hint_missing_name(const struct hint_facts *facts, const struct directory_names *names,
                               const char *name)
{
    AUTO_FREE char *some = directory_names_list(names);
    AUTO_FREE char *places = hint_readable_places(facts);

    return some ? memory_format("The working directory has no %s; it has %s.%s", name, some, places)
                : NULL;
}

/* Its name is not in the directory, and PATH leads into another one. */
static char *hint_missing_directory(const struct hint_facts *facts,
                                    const struct directory_names *names, const char *path)
{
    AUTO_FREE char *first = memory_format("%.*s", (int)strcspn(path, "/"), path);
    AUTO_FREE char *places = hint_readable_places(facts);

    if (!names->is_complete || !directory_name_is_plain(first) ||
        directory_names_have(names, first))
        return NULL;
    return memory_format(
        "The working directory has no directory %s. To write there, make it first: "
        "os.makedirs(\"%s\").%s",
        first, first, places);
}

static char *hint_compare_found(const struct hint_facts *facts, const struct directory_names *names,
                                const char *path)
{
    const char *base = hint_base_name(path);
    AUTO_FREE char *near = NULL;

    (void)facts;
    if (!directory_name_is_plain(base))
        return NULL;
    if (directory_names_have(names, base))
        return base == path ? NULL
                            : memory_format("The file is in the working directory: open it as "
                                            "\"%s\".",
                                            base);
    if (base != path && *path != '/')
        return NULL;
    near = directory_names_near(names, base);
    return near ? memory_format("The working directory has no %s, but it has %s.", base, near)
                : NULL;
}

static char *hint_compare_missing(const struct hint_facts *facts,
                                  const struct directory_names *names, const char *path)
{
    const char *base = hint_base_name(path);

    if (!directory_name_is_plain(base) || directory_names_have(names, base) ||
        (hint_has_own_files(facts) && *path == '/' && !real_path_holds(facts->directory, path)))
        return NULL;
    if (base == path || *path == '/')
        return hint_missing_name(facts, names, base);
    return hint_missing_directory(facts, names, path);
}

/* The result of COMPARE for the file that Python has not found and the names in the directory. */
static char *hint_look(const struct hint_facts *facts,
                       char *(*compare)(const struct hint_facts *facts,
                                        const struct directory_names *names, const char *path))
{
    AUTO_FREE char *path = hint_find_file(facts);
    struct directory_names names;
    char *ret;

    if (!path || directory_names_read(&names, facts->directory) < 0)
        return NULL;
    ret = compare(facts, &names, path);
    directory_names_deinit(&names);
    return ret;
}

char *hint_found_file(const struct hint_facts *facts)
{
    return hint_look(facts, hint_compare_found);
}

char *hint_missing_file(const struct hint_facts *facts)
{
    return hint_look(facts, hint_compare_missing);
}

/* "C:\\Users" as Python writes it, "D:/data" or "\\\\server". */
static bool hint_is_foreign(const char *path)
{
    const char letter = (char)(*path | 0x20);

    if (letter >= 'a' && letter <= 'z' && path[1] == ':')
        return path[2] == '\\' || path[2] == '/';
    return text_starts_with(path, "\\\\\\\\");
}

char *hint_foreign_path(const struct hint_facts *facts)
{
    static const char words[] = "[Errno 2] No such file or directory: '";
    const bool is_missing = hint_is_about(facts, "FileNotFoundError") &&
                            text_starts_with(facts->failure.message, words) &&
                            hint_is_foreign(facts->failure.message + strlen(words));
    const bool is_escape =
        hint_is_about(facts, "SyntaxError") &&
        text_starts_with(facts->failure.message, "(unicode error) 'unicodeescape' codec") &&
        strstr(facts->code->text, ":\\");

    if (!is_missing && !is_escape)
        return NULL;
    return memory_format("That is a path of Windows, and scripts here run on Linux: use a relative "
                         "path%s.",
                         hint_takes_files(facts) ? ", and pass data in `files`" : "");
}

/* The name of a file that the script has made, which is meant as a path of Windows. Borrowed; NULL:
 * there is none. */
static const char *hint_find_foreign_name(const struct hint_facts *facts)
{
    const json_t *file;
    size_t i;

    json_array_foreach (facts->run->files, i, file) {
        const char *path = json_object_get_string(file, "path");

        if (path && hint_is_foreign(path))
            return path;
    }
    return NULL;
}

char *hint_foreign_name(const struct hint_facts *facts)
{
    enum { SHOWN_BYTES = 100 };
    const char *name = hint_find_foreign_name(facts);
    AUTO_FREE char *shown = name ? visible_line(name, strlen(name), SHOWN_BYTES) : NULL;

    if (!name)
        return NULL;
    return memory_format("%s is a file of the working directory with just that name: scripts here "
                         "run on Linux, which knows no paths of Windows. Use a relative path.",
                         shown);
}

/* True when the script has listed a directory, and there was nothing in it but the script. */
static bool hint_has_listed_nothing(const struct hint_facts *facts)
{
    static const char *const calls[] = {"listdir(", "glob(", "scandir(", "iterdir(", "walk("};
    static const char *const nothing[] = {"[]\n", "['script.py']\n", "script.py\n",
                                          "[PosixPath('script.py')]\n"};
    bool has_call = false;
    bool is_nothing = false;

    for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
        has_call |= hint_code_has(facts, calls[i]);
    for (size_t i = 0; i < ARRAY_SIZE(nothing); i++)
        is_nothing |= strcmp(facts->output, nothing[i]) == 0;
    return facts->run->is_success && has_call && is_nothing;
}

/* True when git has found no project, and says so or ends with its status for that. A command that
 * reaches another place fails with this status, too. */
static bool hint_has_missed_repository(const struct hint_facts *facts)
{
    static const char *const remote[] = {"clone", "fetch", "pull", "push", "ls-remote"};
    const char *message = facts->failure.message;

    if (hint_prints(facts, "fatal: not a git repository"))
        return true;
    if (!hint_is_about(facts, "subprocess.CalledProcessError") ||
        !text_starts_with(message, "Command ") || !strstr(message, "'git") ||
        !strstr(message, "exit status 128."))
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(remote); i++)
        if (strstr(message, remote[i]))
            return false;
    return true;
}

/* Where the files of the project are that a script has looked for. */
char *hint_project(const struct hint_facts *facts)
{
    AUTO_FREE char *places = NULL;

    if (facts->is_project ||
        (!hint_has_missed_repository(facts) && !hint_has_listed_nothing(facts)))
        return NULL;
    places = hint_readable_places(facts);
    return memory_format("The working directory is not a project: it has only what calls have put "
                         "there.%s%s",
                         places,
                         !*places && hint_takes_files(facts) ? " Pass data in `files`." : "");
}

/* True when the exception is about a file that is named "script.py" or by its path in DIRECTORY. */
static bool hint_names_own_file(const struct hint_facts *facts, const char *directory)
{
    AUTO_FREE char *path = memory_format("'%s/script.py'", directory);

    return strstr(facts->failure.message, "'script.py'") || strstr(facts->failure.message, path);
}

/* Python's words, by errno, when a script was about to change the file that it runs from. */
char *hint_own_file(const struct hint_facts *facts)
{
    const char *workspace = facts->environment->ops->kind->workspace;
    const char *directory = workspace ? workspace : facts->directory;

    if (!hint_is_about(facts, "OSError") || !directory || strstr(facts->code->text, "chdir") ||
        (!text_starts_with(facts->failure.message, "[Errno 16] ") &&
         !text_starts_with(facts->failure.message, "[Errno 30] ")) ||
        !hint_names_own_file(facts, directory))
        return NULL;
    return memory_copy_string("script.py is the program that runs: it cannot be changed, renamed "
                              "or removed. Use another name, and leave it out when you clean up.");
}

/* The NAMES of files in /tmp, as paths. Owned by the caller. */
static char *hint_list_lost(const json_t *names)
{
    enum { SHOWN_BYTES = 100 };
    char *list = memory_copy_string("");
    const json_t *name;
    size_t i;

    json_array_foreach (names, i, name) {
        AUTO_FREE char *former = list;
        AUTO_FREE char *shown =
            visible_line(json_string_value(name), json_string_length(name), SHOWN_BYTES);

        list = memory_format("%s%s/tmp/%s", former, i > 0 ? ", " : "", shown);
    }
    return list;
}

/* A run that has failed is repaired first. */
char *hint_lost_files(const struct hint_facts *facts)
{
    const json_t *left = facts->run->report->execution.left_files;
    const json_t *names = json_object_get(left, "names");
    const size_t count = (size_t)json_integer_value(json_object_get(left, "count"));
    AUTO_FREE char *list = NULL;
    AUTO_FREE char *more = NULL;

    if (!facts->run->is_success || json_array_size(names) == 0)
        return NULL;
    list = hint_list_lost(names);
    more = count > json_array_size(names)
               ? memory_format(" and %zu more", count - json_array_size(names))
               : memory_copy_string("");
    return memory_format(
        "Gone with this run: %s%s. /tmp is each run's own. Write files that should "
        "stay, and pictures that should be shown, into the working directory: "
        "use relative paths.",
        list, more);
}
