#include "server/tools/code/function_list.h"

#include "base/buffer.h"
#include "base/memory.h"
#include "server/tools/code/python_source.h"

#include <stdbool.h>
#include <string.h>

enum {
    FUNCTIONS_SHOWN = 24,
    FUNCTION_BYTES = 200, /* of a signature, and of its description */
};

struct function_text {
    const char *at;
    size_t length;
};

static bool function_text_is_blank(char c)
{
    return c && strchr(" \t\f\r\n", c);
}

static struct function_text function_text_trim(struct function_text text)
{
    while (text.length > 0 && function_text_is_blank(text.at[0])) {
        text.at++;
        text.length--;
    }
    while (text.length > 0 && function_text_is_blank(text.at[text.length - 1]))
        text.length--;
    return text;
}

/* The text of LINE behind the word WORD; empty if LINE does not begin with WORD. */
static struct function_text function_text_behind(const struct python_line *line, const char *word)
{
    const size_t skipped = strlen(word);

    if (!python_line_begins(line, word))
        return (struct function_text){line->text, 0};
    return function_text_trim((struct function_text){line->text + skipped, line->length - skipped});
}

/* "name(arguments) -> type" of a function that LINE begins to define for others. */
static struct function_text function_signature(const struct python_line *line)
{
    struct function_text text = function_text_behind(line, "async");
    const struct python_line rest = {.text = text.at, .length = text.length};

    text = function_text_behind(text.length > 0 ? &rest : line, "def");
    if (line->indent > 0 || !line->mark || line->mark <= text.at || *text.at == '_' ||
        python_name_length(text.at, text.at + text.length) == 0)
        return (struct function_text){NULL, 0};
    return (struct function_text){text.at, (size_t)(line->mark - text.at)};
}

/* The first line with words of the string that LINE is; nothing if it is none. */
static struct function_text function_docstring(const struct python_line *line)
{
    const char *end = line->text + line->length;
    const char *at = line->text + strspn(line->text, "rRuU");
    const char *quote = at;
    size_t quotes = 0;

    while (at < end && line->indent > 0 && strchr("\"'", *at) && *at == *quote && quotes < 3) {
        at++;
        quotes++;
    }
    while (at < end && quotes > 0 && function_text_is_blank(*at))
        at++;
    for (const char *stop = at; quotes > 0 && stop < end; stop++)
        if (*stop == '\n' || ((size_t)(end - stop) >= quotes && memcmp(stop, quote, quotes) == 0))
            return function_text_trim((struct function_text){at, (size_t)(stop - at)});
    return (struct function_text){NULL, 0};
}

/* With each run of blanks as one, and no more of it than can be of use. */
static void function_text_append(struct buffer *list, struct function_text text)
{
    size_t written = 0;
    bool is_blank = false;

    for (size_t i = 0; i < text.length; i++) {
        const bool was_blank = is_blank;

        is_blank = function_text_is_blank(text.at[i]);
        if (is_blank && was_blank)
            continue;
        if (++written > FUNCTION_BYTES && ((unsigned char)text.at[i] & 0xc0) != 0x80) {
            buffer_print(list, " ...");
            return;
        }
        buffer_print(list, "%c", is_blank ? ' ' : text.at[i]);
    }
}

/* LINE is the first line in a function that is listed already. */
static void function_list_explain(struct buffer *list, const struct python_line *line)
{
    const struct function_text words = function_docstring(line);

    if (words.length == 0)
        return;
    buffer_print(list, ": ");
    function_text_append(list, words);
}

static void function_list_append(struct buffer *list, const char *code, size_t length)
{
    struct python_source source;
    struct python_line line;
    unsigned count = 0;
    bool is_in_one = false;

    python_source_init(&source, code, length);
    while (python_source_next(&source, &line)) {
        const struct function_text signature = function_signature(&line);

        if (is_in_one)
            function_list_explain(list, &line);
        is_in_one = signature.length > 0 && ++count <= FUNCTIONS_SHOWN;
        if (is_in_one && count > 1)
            buffer_print(list, "\n");
        if (is_in_one)
            function_text_append(list, signature);
    }
    if (count > FUNCTIONS_SHOWN)
        buffer_print(list, "\nand %u more", count - FUNCTIONS_SHOWN);
}

char *function_list(const char *code, size_t length)
{
    struct buffer list;
    char *ret;

    buffer_init(&list, (size_t)FUNCTIONS_SHOWN * 3 * FUNCTION_BYTES);
    function_list_append(&list, code, length);
    ret = memory_format("%.*s", (int)buffer_length(&list), buffer_bytes(&list));
    buffer_deinit(&list);
    return ret;
}
