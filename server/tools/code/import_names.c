#include "server/tools/code/import_names.h"

#include "server/tools/code/python_source.h"

#include <string.h>

enum {
    IMPORT_NAMES_MAX = 32,
    IMPORT_NAME_BYTES = 100,
};

/* The rest of a line. */
struct import_text {
    const char *at;
    const char *end;
};

static void import_text_skip(struct import_text *text)
{
    while (text->at < text->end && strchr(" \t\r\n\\()", *text->at))
        text->at++;
}

/* The length of the dotted name at TEXT, or 0. */
static size_t import_text_name(const struct import_text *text)
{
    const char *at = text->at;
    size_t length = python_name_length(at, text->end);

    while (length > 0 && at + length < text->end && at[length] == '.') {
        at += length + 1;
        length = python_name_length(at, text->end);
    }
    return length > 0 ? (size_t)(at - text->at) + length : 0;
}

/* Behind the word WORD, if that comes next. */
static bool import_text_word(struct import_text *text, const char *word)
{
    const size_t length = strlen(word);

    import_text_skip(text);
    if (python_name_length(text->at, text->end) != length || memcmp(text->at, word, length) != 0)
        return false;
    text->at += length;
    import_text_skip(text);
    return true;
}

static void import_names_add(json_t *names, const char *name, size_t length)
{
    const json_t *each;
    size_t i;

    if (length == 0 || length >= IMPORT_NAME_BYTES || json_array_size(names) >= IMPORT_NAMES_MAX)
        return;
    json_array_foreach (names, i, each)
        if (json_string_length(each) == length &&
            memcmp(json_string_value(each), name, length) == 0)
            return;
    json_array_append_new(names, json_stringn(name, length));
}

/* The names of a list with commas, each behind PREFIX and a dot unless that is NULL. */
static void import_names_add_list(json_t *names, struct import_text *text, const char *prefix,
                                  size_t prefix_length)
{
    char name[2 * IMPORT_NAME_BYTES];
    size_t length;

    while ((length = import_text_name(text)) > 0 && length < IMPORT_NAME_BYTES) {
        memcpy(name, prefix, prefix_length);
        name[prefix_length] = '.';
        memcpy(name + prefix_length + (prefix_length > 0), text->at, length);
        import_names_add(names, name, prefix_length + (prefix_length > 0) + length);
        text->at += length;
        if (import_text_word(text, "as"))
            text->at += import_text_name(text);
        import_text_skip(text);
        if (text->at == text->end || *text->at != ',')
            return;
        text->at++;
        import_text_skip(text);
    }
}

static void import_names_add_from(json_t *names, struct import_text *text)
{
    const char *module = text->at;
    size_t length = import_text_name(text);

    text->at += length;
    if (length == 0 || length >= IMPORT_NAME_BYTES || !import_text_word(text, "import"))
        return;
    import_names_add(names, module, length);
    import_names_add_list(names, text, module, length);
}

static void import_names_read_line(json_t *names, const struct python_line *line)
{
    struct import_text text = {.at = line->text, .end = line->text + line->length};

    if (import_text_word(&text, "import"))
        import_names_add_list(names, &text, "", 0);
    else if (import_text_word(&text, "from"))
        import_names_add_from(names, &text);
}

json_t *import_names_read(const char *code, size_t length)
{
    json_t *names = json_array();
    struct python_source source;
    struct python_line line;

    python_source_init(&source, code, length);
    while (python_source_next(&source, &line) && !source.is_lost)
        import_names_read_line(names, &line);
    return names;
}
