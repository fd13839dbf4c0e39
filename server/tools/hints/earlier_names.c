#include "server/tools/hints/earlier_names.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "server/tools/code/python_source.h"

#include <stdlib.h>
#include <string.h>

enum {
    NAMES_PER_DIRECTORY = 200,
    EARLIER_NAME_BYTES = 64,
};

struct earlier_directory {
    char *directory; /* owned; NULL: the place is free */
    json_t *names;   /* owned */
};

struct earlier_names {
    struct earlier_directory last[EARLIER_DIRECTORIES]; /* the directory that was used last comes
                                                           first */
};

struct earlier_names *earlier_names_new(void)
{
    return NEW(struct earlier_names);
}

static void earlier_directory_deinit(struct earlier_directory *directory)
{
    free(directory->directory);
    json_decref(directory->names);
    *directory = (struct earlier_directory){0};
}

void earlier_names_free(struct earlier_names *names)
{
    if (!names)
        return;
    for (size_t i = 0; i < EARLIER_DIRECTORIES; i++)
        earlier_directory_deinit(&names->last[i]);
    free(names);
}

/* The place of DIRECTORY, or the last one. */
static size_t earlier_names_find(const struct earlier_names *names, const char *directory)
{
    size_t i;

    for (i = 0; i < EARLIER_DIRECTORIES - 1; i++)
        if (names->last[i].directory && strcmp(names->last[i].directory, directory) == 0)
            break;
    return i;
}

/* Moves DIRECTORY to the front, in place of the directory that was used least recently. */
static json_t *earlier_names_take(struct earlier_names *names, const char *directory)
{
    const size_t place = earlier_names_find(names, directory);
    struct earlier_directory taken = names->last[place];

    if (!taken.directory || strcmp(taken.directory, directory) != 0) {
        earlier_directory_deinit(&taken);
        taken.directory = memory_copy_string(directory);
        taken.names = json_object();
    }
    memmove(&names->last[1], &names->last[0], place * sizeof names->last[0]);
    names->last[0] = taken;
    return taken.names;
}

const json_t *earlier_names_of(const struct earlier_names *names, const char *directory)
{
    const struct earlier_directory *found = &names->last[earlier_names_find(names, directory)];

    return found->directory && strcmp(found->directory, directory) == 0 ? found->names : NULL;
}

/* Names that a line defines */

/* Returns the end of the name at TEXT, which is added to NAMES. */
static const char *earlier_names_add(json_t *names, const char *text, const char *end)
{
    const size_t length = python_name_length(text, end);
    AUTO_FREE char *name = NULL;

    if (length == 0 || length > EARLIER_NAME_BYTES ||
        json_object_size(names) == NAMES_PER_DIRECTORY)
        return text + length;
    name = memory_format("%.*s", (int)length, text);
    json_object_set_new(names, name, json_true()); /* not, where it is no UTF-8 */
    return text + length;
}

static const char *earlier_names_skip(const char *at, const char *end, const char *characters)
{
    while (at < end && *at && strchr(characters, *at))
        at++;
    return at;
}

/* "a = ", "a, b = " and "a: int = ": names with commas between them, up to the mark. */
static void earlier_names_add_targets(json_t *names, const char *text, const char *mark)
{
    const char *at = text;

    while (at < mark) {
        const size_t length = python_name_length(at, mark);

        if (length == 0)
            return;
        at = earlier_names_skip(at + length, mark, " \t");
        if (at < mark && *at != ',')
            return;
        at = earlier_names_skip(at, mark, " \t,");
    }
    for (at = text; at < mark; at = earlier_names_skip(at, mark, " \t,"))
        at = earlier_names_add(names, at, mark);
}

/* "import a.b as c, d": c and d. */
static void earlier_names_add_imports(json_t *names, const char *at, const char *end)
{
    while (at < end) {
        const char *name = at = earlier_names_skip(at, end, " \t\r\n(),\\");
        const char *behind;

        while (at < end && (python_name_length(at, end) > 0 || *at == '.'))
            at += *at == '.' ? 1 : python_name_length(at, end);
        behind = earlier_names_skip(at, end, " \t");
        if (end - behind > 3 && memcmp(behind, "as ", 3) == 0)
            name = at = earlier_names_skip(behind + 3, end, " \t");
        if (python_name_length(name, end) == 0)
            return;
        name = earlier_names_add(names, name, end);
        at = name > at ? name : at;
    }
}

static void earlier_names_add_line(json_t *names, const struct python_line *line)
{
    static const char *const definitions[] = {"def", "class"};
    const char *end = line->text + line->length;
    const char *import = memmem(line->text, line->length, "import ", 7);

    for (size_t i = 0; i < ARRAY_SIZE(definitions); i++)
        if (python_line_begins(line, definitions[i])) {
            earlier_names_add(
                names, earlier_names_skip(line->text + strlen(definitions[i]), end, " \t"), end);
            return;
        }
    if (import && (python_line_begins(line, "import") || python_line_begins(line, "from")))
        earlier_names_add_imports(names, import + 7, end);
    else if (line->mark)
        earlier_names_add_targets(names, line->text, line->mark);
}

void earlier_names_note(struct earlier_names *names, const char *directory, const char *code,
                        size_t length)
{
    json_t *own = earlier_names_take(names, directory);
    struct python_source source;
    struct python_line line;

    python_source_init(&source, code, length);
    while (python_source_next(&source, &line) && !source.is_lost)
        if (line.indent == 0)
            earlier_names_add_line(own, &line);
}
