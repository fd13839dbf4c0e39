#include "server/clients/jsonc_text.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"

#include <string.h>
#include <strings.h>

#define JSONC_MARK "\xef\xbb\xbf"

enum {
    /* Settings hold numbers larger than 64 bits, and text with NUL. */
    JSONC_FLAGS = JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL,
    ESCAPE_BYTES = 6, /* \uXXXX */
};

/* The state while comments and trailing commas are taken out of a copy of a text. */
struct jsonc_stripping {
    char *bare;
    size_t at;
    size_t comma;     /* the last byte but white space and comments, if it is a comma; else 0 */
    char significant; /* that byte, or the byte before the comma */
};

static void blank(char *text, size_t start, size_t end)
{
    for (size_t i = start; i < end; i++)
        if (!settings_is_space(text[i]))
            text[i] = ' ';
}

/* The end of the comment at AT, or AT when there is none. */
static size_t comment_end(const char *text, size_t at)
{
    const char *end;

    if (text_starts_with(text + at, "//"))
        return at + strcspn(text + at, "\n");
    if (!text_starts_with(text + at, "/*"))
        return at;
    end = strstr(text + at + 2, "*/");
    return end ? (size_t)(end - text) + 2 : at;
}

/* Half a character in \u is no JSON to our parser; JavaScript writes it into settings all the same.
 */
static void mend_escape(char *escape)
{
    if (strncasecmp(escape, "\\ud8", 4) >= 0 && strncasecmp(escape, "\\udg", 4) < 0)
        memcpy(escape, "\\ufffd", ESCAPE_BYTES);
    if (strncmp(escape, "\\u0000", ESCAPE_BYTES) == 0)
        memcpy(escape, "\\ufffd", ESCAPE_BYTES);
}

/* Behind the string at AT, or the end of the text. */
static size_t jsonc_string_end(const char *text, size_t at)
{
    for (at++; text[at] && text[at] != '"'; at++)
        if (text[at] == '\\' && text[at + 1])
            at++;
    return text[at] ? at + 1 : at;
}

static void mend_string(char *text, size_t start, size_t end)
{
    for (size_t i = start; i < end; i++) {
        if (text[i] != '\\')
            continue;
        if (text[i + 1] == 'u' && end - i > ESCAPE_BYTES)
            mend_escape(text + i);
        i++;
    }
}

static void strip_mark(struct jsonc_stripping *stripping)
{
    char mark = stripping->bare[stripping->at];

    if ((mark == '}' || mark == ']') && stripping->comma)
        stripping->bare[stripping->comma] = ' ';
    if (mark == ',') {
        stripping->comma =
            stripping->significant && !strchr("{[,:", stripping->significant) ? stripping->at : 0;
    } else {
        stripping->comma = 0;
    }
    stripping->significant = mark;
    stripping->at++;
}

static void strip_next(struct jsonc_stripping *stripping)
{
    const size_t start = stripping->at;
    const size_t comment = comment_end(stripping->bare, start);

    if (comment > start) {
        blank(stripping->bare, start, comment);
        stripping->at = comment;
    } else if (stripping->bare[start] == '"') {
        stripping->at = jsonc_string_end(stripping->bare, start);
        mend_string(stripping->bare, start, stripping->at);
        stripping->significant = '"';
        stripping->comma = 0;
    } else if (settings_is_space(stripping->bare[start])) {
        stripping->at++;
    } else {
        strip_mark(stripping);
    }
}

static char *jsonc_strip(const char *text)
{
    struct jsonc_stripping stripping = {.bare = memory_copy_string(text)};

    if (text_starts_with(text, JSONC_MARK))
        blank(stripping.bare, 0, strlen(JSONC_MARK));
    while (stripping.bare[stripping.at])
        strip_next(&stripping);
    return stripping.bare;
}

json_t *jsonc_read_value(const char *text, size_t length)
{
    return json_loadb(text, length, JSONC_FLAGS, NULL);
}

int jsonc_text_init(struct jsonc_text *jsonc, const char *text, struct error *err)
{
    json_error_t fault;

    *jsonc = (struct jsonc_text){.text = text, .bare = jsonc_strip(text)};
    jsonc->open = strspn(jsonc->bare, " \t\r\n");
    if (!jsonc->bare[jsonc->open] && settings_trim(text, 0, strlen(text)) == 0)
        return 0;
    jsonc->root = json_loadb(jsonc->bare, strlen(jsonc->bare), JSONC_FLAGS, &fault);
    if (!jsonc->root)
        return settings_fault(err, text, fault.position > 0 ? (size_t)fault.position - 1 : 0,
                              "is not valid JSON: %s", fault.text);
    if (!json_is_object(jsonc->root))
        return settings_fault(err, text, jsonc->open, "must be an object of JSON");
    return 0;
}

void jsonc_text_deinit(struct jsonc_text *jsonc)
{
    free(jsonc->bare);
    json_decref(jsonc->root);
    *jsonc = (struct jsonc_text)JSONC_TEXT_INIT;
}

static size_t skip_spaces(const char *bare, size_t at)
{
    return at + strspn(bare + at, " \t\r\n");
}

/* Behind the value at AT. The text is known to be JSON. */
static size_t value_end(const char *bare, size_t at)
{
    size_t depth = 0;

    do {
        if (bare[at] == '"') {
            at = jsonc_string_end(bare, at);
            continue;
        }
        if (strchr("{[", bare[at]))
            depth++;
        if (strchr("}]", bare[at]))
            depth--;
        at++;
        if (depth == 0 && !strchr("}]", bare[at - 1]))
            at += strcspn(bare + at, " \t\r\n,}]");
    } while (depth > 0);
    return at;
}

/* The first comma outside of comments, or 0. */
static size_t find_comma(const char *text, size_t start, size_t end)
{
    size_t at = start;

    while (at < end) {
        const size_t comment = comment_end(text, at);

        if (comment == at && text[at] == ',')
            return at;
        at = comment > at ? comment : at + 1;
    }
    return 0;
}

/* The item at AT. A trailing comma is white space in the bare text, not in TEXT. */
static bool jsonc_read_item(const struct jsonc_text *jsonc, size_t at, bool has_name,
                            struct jsonc_item *ret_item)
{
    const char *bare = jsonc->bare;

    at = skip_spaces(bare, at);
    if (strchr("}]", bare[at]))
        return false;
    *ret_item = (struct jsonc_item){.start = at, .value = at};
    if (has_name)
        ret_item->value = skip_spaces(bare, skip_spaces(bare, jsonc_string_end(bare, at)) + 1);
    ret_item->end = value_end(bare, ret_item->value);
    ret_item->comma = find_comma(jsonc->text, ret_item->end, skip_spaces(bare, ret_item->end) + 1);
    return true;
}

bool jsonc_first(const struct jsonc_text *jsonc, size_t open, struct jsonc_item *ret_item)
{
    return jsonc_read_item(jsonc, open + 1, jsonc->bare[open] == '{', ret_item);
}

bool jsonc_next(const struct jsonc_text *jsonc, struct jsonc_item *item)
{
    struct jsonc_item next;

    if (!item->comma || !jsonc_read_item(jsonc, item->comma + 1, item->value > item->start, &next))
        return false;
    *item = next;
    return true;
}

bool jsonc_last(const struct jsonc_text *jsonc, size_t open, struct jsonc_item *ret_item)
{
    if (!jsonc_first(jsonc, open, ret_item))
        return false;
    while (jsonc_next(jsonc, ret_item))
        continue;
    return true;
}

static bool jsonc_is_called(const struct jsonc_text *jsonc, const struct jsonc_item *item,
                            const char *name)
{
    size_t end = jsonc_string_end(jsonc->bare, item->start);
    AUTO_JSON json_t *key = jsonc_read_value(jsonc->bare + item->start, end - item->start);

    return strcmp(text_or_none(json_string_value(key)), name) == 0;
}

bool jsonc_find_member(const struct jsonc_text *jsonc, size_t open, const char *name,
                       struct jsonc_item *ret_item)
{
    struct jsonc_item item;
    bool is_found = false;

    for (bool is_there = jsonc_first(jsonc, open, &item); is_there;
         is_there = jsonc_next(jsonc, &item)) {
        if (!jsonc_is_called(jsonc, &item, name))
            continue;
        *ret_item = item;
        is_found = true;
    }
    return is_found;
}

bool jsonc_find_element(const struct jsonc_text *jsonc, size_t open, const json_t *value,
                        struct jsonc_item *ret_item)
{
    for (bool is_there = jsonc_first(jsonc, open, ret_item); is_there;
         is_there = jsonc_next(jsonc, ret_item)) {
        AUTO_JSON json_t *element =
            jsonc_read_value(jsonc->bare + ret_item->value, ret_item->end - ret_item->value);

        if (json_equal(element, value))
            return true;
    }
    return false;
}

size_t jsonc_before(const struct jsonc_text *jsonc, size_t offset)
{
    const size_t end = settings_trim(jsonc->bare, 0, offset);
    const size_t comma = find_comma(jsonc->text, end, offset); /* a trailing one */

    return comma ? comma + 1 : end;
}

bool jsonc_is_line_comment(const struct jsonc_text *jsonc, size_t start, size_t end)
{
    bool is_line_comment = false;
    size_t at = start;

    while (at < end) {
        const size_t comment = comment_end(jsonc->text, at);

        if (comment > at)
            is_line_comment = jsonc->text[at + 1] == '/';
        at = comment > at ? comment : at + 1;
    }
    return is_line_comment;
}

size_t jsonc_close(const struct jsonc_text *jsonc, size_t open)
{
    return value_end(jsonc->bare, open) - 1;
}
