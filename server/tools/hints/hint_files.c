#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/visible.h"
#include "environments/environment.h"
#include "environments/real_path.h"
#include "server/tools/hints/directory_names.h"
#include "server/tools/hints/hint_table.h"

#include <string.h>

/* The file that Python has not found, owned by the caller; NULL: it was a program, or it is not
 * certain where it was looked for. */
static char *hint_find_file(const struct hint_facts *facts)
{
    static const char words[] = "[Errno 2] No such file or directory: '";

    if (!hint_is_about(facts, "FileNotFoundError") ||
        !text_starts_with(facts->failure.message, words) || strstr(facts->code->text, "chdir") ||
        !facts->directory || !facts->failure.innermost ||
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

/* The other places that scripts can read, by absolute paths only; the folder in which the server
 * was started, too. Owned by the caller; "" if there is nothing. */
static char *hint_readable_places(const struct hint_facts *facts)
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

/* Python's words, by errno, when a script was about to change the file that it runs from. */
char *hint_own_file(const struct hint_facts *facts)
{
    if (facts->run->is_success || !strstr(facts->errors, "script.py'") ||
        (!strstr(facts->errors, "[Errno 16] ") && !strstr(facts->errors, "[Errno 30] ")))
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
