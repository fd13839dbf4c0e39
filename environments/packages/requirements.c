#include "environments/packages/requirements.h"

#include "base/ascii.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/memory.h"
#include "base/untrusted.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define BYTE_ORDER_MARK "\xEF\xBB\xBF"

enum {
    NAMES_SHOWN = 3,
    NAME_BYTES = 30, /* of each name that is shown */
};

void requirements_deinit(struct requirements *requirements)
{
    for (size_t i = 0; i < requirements->count; i++)
        requirement_deinit(&requirements->items[i]);
    free(requirements->items);
    *requirements = (struct requirements){0};
}

static int requirements_add(struct requirements *requirements, const char *text, size_t length,
                            struct error *err)
{
    struct requirement requirement;

    if (requirements->count == REQUIREMENTS_MOST)
        return error_set(err, ERROR_CONFIG, "these are more than %d packages", REQUIREMENTS_MOST);
    if (requirement_parse(&requirement, text, length, err) < 0)
        return -1;
    requirements->items =
        memory_resize(requirements->items, (requirements->count + 1) * sizeof *requirements->items);
    requirements->items[requirements->count++] = requirement;
    return 0;
}

int requirements_add_packages(struct requirements *requirements, const json_t *packages,
                              struct error *err)
{
    json_t *package;
    size_t i;

    json_array_foreach (packages, i, package)
        if (requirements_add(requirements, json_string_value(package), json_string_length(package),
                             err) < 0)
            return error_prefix(err, "package %zu", i + 1);
    return 0;
}

/* Lines, as installers take them apart: a backslash at the end goes on with the next one, "#" at
 * the beginning or behind a blank begins a comment. */

static size_t length_without_comment(const char *line, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (line[i] == '#' && (i == 0 || ascii_is_blank(line[i - 1])))
            return i;
    return length;
}

static bool has_text(const char *line, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!ascii_is_blank(line[i]))
            return true;
    return false;
}

static size_t length_of_line(const char *text, size_t length)
{
    const char *end = memchr(text, '\n', length);

    if (end)
        length = (size_t)(end - text);
    return length > 0 && text[length - 1] == '\r' ? length - 1 : length;
}

static size_t length_with_end(const char *text, size_t length)
{
    const char *end = memchr(text, '\n', length);

    return end ? (size_t)(end - text) + 1 : length;
}

static bool is_continued(const char *line, size_t length)
{
    return length > 0 && line[length - 1] == '\\' &&
           has_text(line, length_without_comment(line, length));
}

/* One line is complete, which may have been several in the file. */
static int requirements_add_line(struct requirements *requirements, struct buffer *line,
                                 struct error *err)
{
    const char *text = buffer_bytes(line);
    size_t length = length_without_comment(text, buffer_length(line));
    int ret = has_text(text, length) ? requirements_add(requirements, text, length, err) : 0;

    buffer_consume(line, buffer_length(line));
    return ret;
}

static int requirements_add_lines(struct requirements *requirements, const char *text, size_t left,
                                  struct buffer *line, struct error *err)
{
    size_t first = 1; /* number of the line that the present one began with */

    for (size_t number = 1; left > 0; number++) {
        size_t length = length_of_line(text, left);
        size_t whole = length_with_end(text, left);
        bool continued = is_continued(text, length);

        if (buffer_append(line, text, continued ? length - 1 : length, err) < 0)
            return error_prefix(err, "line %zu", first);
        text += whole;
        left -= whole;
        if (continued && left > 0)
            continue;
        if (requirements_add_line(requirements, line, err) < 0)
            return error_prefix(err, "line %zu", first);
        first = number + 1;
    }
    return 0;
}

int requirements_add_text(struct requirements *requirements, const char *text, size_t length,
                          struct error *err)
{
    const size_t mark = sizeof BYTE_ORDER_MARK - 1;
    struct buffer line;
    int ret;

    if (length >= mark && memcmp(text, BYTE_ORDER_MARK, mark) == 0) {
        text += mark;
        length -= mark;
    }
    buffer_init(&line, REQUIREMENTS_FILE_BYTES);
    ret = requirements_add_lines(requirements, text, length, &line, err);
    buffer_deinit(&line);
    return ret;
}

int requirements_add_file(struct requirements *requirements, const char *path, struct error *err)
{
    size_t length;
    AUTO_FREE char *text = untrusted_read(AT_FDCWD, path, REQUIREMENTS_FILE_BYTES, &length, err);

    if (!text)
        return -1;
    return requirements_add_text(requirements, text, length, err) < 0
               ? error_prefix(err, "%s", path)
               : 0;
}

bool requirements_have_hashes(const struct requirements *requirements)
{
    return requirements->count > 0 && *requirements->items[0].hashes;
}

int requirements_check_hashes(const struct requirements *requirements, struct error *err)
{
    const bool expected = requirements_have_hashes(requirements);

    for (size_t i = 0; i < requirements->count; i++) {
        const struct requirement *without = &requirements->items[expected ? i : 0];

        if ((*requirements->items[i].hashes != '\0') != expected)
            return error_set(err, ERROR_CONFIG,
                             "%.*s has no --hash, but other packages have: all must have one, in "
                             "the requirements file, or none",
                             (int)without->name_length, without->text);
    }
    return 0;
}

char *requirements_text(const struct requirements *requirements)
{
    size_t length = 0;
    char *text;
    char *end;

    for (size_t i = 0; i < requirements->count; i++)
        length += strlen(requirements->items[i].text) + strlen(requirements->items[i].hashes) + 1;
    text = memory_new(length + 1, 1);
    end = text;
    for (size_t i = 0; i < requirements->count; i++) {
        end = stpcpy(end, requirements->items[i].text);
        end = stpcpy(end, requirements->items[i].hashes);
        end = stpcpy(end, "\n");
    }
    return text;
}

static void append_name(char **names, const struct requirement *requirement)
{
    size_t length = requirement->name_length < NAME_BYTES ? requirement->name_length : NAME_BYTES;
    char *longer =
        memory_format("%s%s%.*s", *names, **names ? ", " : "", (int)length, requirement->text);

    free(*names);
    *names = longer;
}

char *requirements_names(const struct requirements *requirements)
{
    AUTO_FREE char *names = memory_copy_string("");
    size_t shown = requirements->count;

    if (shown > NAMES_SHOWN + 1) /* "and 1 more" is no shorter than a name */
        shown = NAMES_SHOWN;
    for (size_t i = 0; i < shown; i++)
        append_name(&names, &requirements->items[i]);
    if (shown < requirements->count)
        return memory_format("%s and %zu more", names, requirements->count - shown);
    return STEAL_PTR(names);
}
