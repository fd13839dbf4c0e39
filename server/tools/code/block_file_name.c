#include "server/tools/code/block_file_name.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define FILENAME_WORD "filename:"

enum { BLOCK_FILE_NAME_BYTES = 255 };

static const struct {
    const char *start;
    const char *end;
} block_comments[] = {
    {"<!--", "-->"},
    {"/*", "*/"},
    {"//", ""},
    {"#", ""},
};

/* TEXT, which is changed, without the blanks at both ends. */
static char *block_file_name_trim(char *text)
{
    size_t length;

    text += strspn(text, " \t");
    length = strlen(text);
    while (length > 0 && strchr(" \t\r", text[length - 1]))
        length--;
    text[length] = '\0';
    return text;
}

/* The text of the comment that LINE is, or NULL; LINE is changed. */
static char *block_file_name_comment(char *line)
{
    for (size_t i = 0; i < ARRAY_SIZE(block_comments); i++) {
        const size_t start = strlen(block_comments[i].start);
        const size_t end = strlen(block_comments[i].end);
        const size_t length = strlen(line);

        if (!text_starts_with(line, block_comments[i].start))
            continue;
        if (length < start + end || strcmp(line + length - end, block_comments[i].end) != 0)
            return NULL;
        line[length - end] = '\0';
        return block_file_name_trim(line + start);
    }
    return NULL;
}

static bool block_file_name_is_printable(const char *name)
{
    for (; *name; name++)
        if ((unsigned char)*name < ' ' || *name == '\x7f')
            return false;
    return true;
}

/* True when each part between slashes is a name: neither empty, "." nor "..". */
static bool block_file_name_is_below(const char *name)
{
    AUTO_FREE char *copy = memory_copy_string(name);
    char *rest = copy;

    for (char *part = strsep(&rest, "/"); part; part = strsep(&rest, "/"))
        if (!*part || text_is_dots(part))
            return false;
    return true;
}

static int block_file_name_check(const char *name, struct error *err)
{
    if (!*name)
        return error_set(err, ERROR_INVALID_ARGUMENTS, "the filename is empty");
    if (strlen(name) > BLOCK_FILE_NAME_BYTES)
        return error_set(err, ERROR_INVALID_ARGUMENTS, "the filename is longer than %d bytes",
                         BLOCK_FILE_NAME_BYTES);
    if (!block_file_name_is_printable(name))
        return error_set(err, ERROR_INVALID_ARGUMENTS, "the filename has control characters");
    if (!block_file_name_is_below(name))
        return error_set(err, ERROR_INVALID_ARGUMENTS,
                         "Filename is not in the workspace: \"%s\"; give a path relative to the "
                         "working directory, without \"..\"",
                         name);
    return 0;
}

int block_file_name_read(const char *code, bool is_loose, char **ret, struct error *err)
{
    AUTO_FREE char *first = memory_format("%.*s", (int)strcspn(code, "\n"), code);
    char *name = block_file_name_comment(block_file_name_trim(first));
    const bool has_word = name && text_starts_with(name, FILENAME_WORD);

    *ret = NULL;
    if (!name || (!has_word && (!is_loose || !*name || *name == '!'))) /* "#!/bin/sh" */
        return 0;
    if (has_word)
        name = block_file_name_trim(name + strlen(FILENAME_WORD));
    if (text_starts_with(name, "./"))
        name += 2;
    if (block_file_name_check(name, err) < 0)
        return -1;
    *ret = memory_copy_string(name);
    return 0;
}
