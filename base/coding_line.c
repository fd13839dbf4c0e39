#include "base/coding_line.h"

#include "base/memory.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define CODING_WORD "coding"
#define CODING_UTF8 "utf-8"
#define CODING_NAME "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

enum { CODING_LINES = 2 }; /* the first lines, of which one may say it */

/* A part of a text. */
struct coding_part {
    const char *text;
    size_t length;
};

/* Moves from AT over the characters that are among CHARACTERS. */
static size_t coding_skip(struct coding_part part, size_t at, const char *characters)
{
    while (at < part.length && part.text[at] && strchr(characters, part.text[at]))
        at++;
    return at;
}

/* The line at the start of PART: Python ends one at a carriage return, too. */
static struct coding_part coding_first_line(struct coding_part part)
{
    size_t end = 0;

    while (end < part.length && part.text[end] != '\n' && part.text[end] != '\r')
        end++;
    return (struct coding_part){part.text, end};
}

/* The rest of PART, behind LINE at its start. */
static struct coding_part coding_rest(struct coding_part part, struct coding_part line)
{
    size_t next = line.length;

    if (next < part.length && part.text[next] == '\r')
        next++;
    if (next < part.length && part.text[next] == '\n')
        next++;
    return (struct coding_part){part.text + next, part.length - next};
}

/* The name behind the word "coding" at AT of LINE; without a length: there is none. */
static struct coding_part coding_name_behind(struct coding_part line, size_t at)
{
    size_t start = at + strlen(CODING_WORD);
    size_t end;

    if (start >= line.length || (line.text[start] != ':' && line.text[start] != '='))
        return (struct coding_part){line.text, 0};
    start = coding_skip(line, start + 1, " \t");
    end = coding_skip(line, start, CODING_NAME);
    return (struct coding_part){line.text + start, end - start};
}

/* The name of an encoding in LINE, a comment. */
static struct coding_part coding_find_name(struct coding_part line)
{
    const size_t word = strlen(CODING_WORD);

    for (size_t at = 0; at + word < line.length; at++) {
        struct coding_part name;

        if (memcmp(line.text + at, CODING_WORD, word) != 0)
            continue;
        name = coding_name_behind(line, at);
        if (name.length > 0)
            return name;
    }
    return (struct coding_part){line.text, 0};
}

/* The name in the first lines of CODE. Behind a statement there is none. */
static struct coding_part coding_find(struct coding_part code)
{
    for (int i = 0; i < CODING_LINES; i++) {
        const struct coding_part line = coding_first_line(code);
        const size_t start = coding_skip(line, 0, " \t\f");
        struct coding_part name = {line.text, 0};

        if (start < line.length && line.text[start] != '#')
            return name;
        if (start < line.length)
            name = coding_find_name(line);
        if (name.length > 0)
            return name;
        code = coding_rest(code, line);
    }
    return (struct coding_part){code.text, 0};
}

/* True when NAME is a name of UTF-8, as people write it. */
static bool coding_is_utf8(struct coding_part name)
{
    static const char *const names[] = {"utf-8", "utf8", "utf_8"};

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (strlen(names[i]) == name.length && strncasecmp(name.text, names[i], name.length) == 0)
            return true;
    return false;
}

char *coding_line_correct(const char *text, size_t length, size_t *ret_length)
{
    const struct coding_part name = coding_find((struct coding_part){text, length});
    const size_t before = (size_t)(name.text - text);
    const char *rest = name.text + name.length;
    char *ret;
    char *end;

    if (name.length == 0 || coding_is_utf8(name))
        return NULL;
    ret = memory_new(length + strlen(CODING_UTF8) + 1, 1);
    end = mempcpy(ret, text, before);
    end = mempcpy(end, CODING_UTF8, strlen(CODING_UTF8));
    end = mempcpy(end, rest, length - before - name.length);
    *end = '\0';
    *ret_length = (size_t)(end - ret);
    return ret;
}
