#include "server/configuration/config_types.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"

#include <stdbool.h>
#include <string.h>

enum { SHOWN_BYTES = 100 };

/* VALUE as it is written. Owned by the caller. */
static char *config_types_write(const json_t *value)
{
    AUTO_FREE char *text = json_is_string(value) ? memory_copy_string(json_string_value(value))
                                                 : json_dumps(value, JSON_ENCODE_ANY);

    return memory_format("%.*s", SHOWN_BYTES, text);
}

static char *explain_list(const char *key, const json_t *value)
{
    AUTO_FREE char *text = NULL;

    if (strcmp(key, "listen") == 0 && json_is_integer(value))
        return memory_format(
            "must be a list of addresses: [\"http://127.0.0.1:%" JSON_INTEGER_FORMAT "/mcp\"]",
            json_integer_value(value));
    if (json_is_object(value))
        return memory_copy_string("must be a list: [A, B], or lines that begin with -");
    if (json_is_null(value))
        return memory_copy_string("is empty: write a list, [A, B], or leave it out");
    if (!json_is_string(value) && !json_is_number(value))
        return NULL;
    text = config_types_write(value);
    return memory_format("must be a list: [%s]", text);
}

static char *explain_truth(const char *key, const json_t *value)
{
    AUTO_FREE char *text = NULL;

    (void)key;
    if (!json_is_string(value) && !json_is_number(value))
        return NULL;
    text = config_types_write(value);
    return memory_format("write true or false, not %s", text);
}

static bool is_time(const char *key)
{
    return strstr(key, "timeout") || strcmp(key, "keep_for") == 0 ||
           strcmp(key, "session_idle") == 0;
}

/* "60s" and "'60'" show which number is meant. */
static char *explain_number(const char *key, const json_t *value)
{
    const char *text = json_string_value(value);
    size_t digits = text ? strspn(text, "0123456789.") : 0;
    AUTO_FREE char *shown = NULL;

    if (json_is_number(value))
        return NULL;
    if (json_is_null(value))
        return memory_format("is empty: write a number%s, or leave it out",
                             is_time(key) ? " of seconds" : "");
    if (digits > 0 && *text != '.' && digits < SHOWN_BYTES && !strcspn(text + digits, "sS"))
        return memory_format("must be a number%s: %.*s", is_time(key) ? " of seconds" : "",
                             (int)digits, text);
    shown = config_types_write(value);
    return memory_format("must be a number%s, not %s%s%s",
                         is_time(key) ? " of seconds, such as 60" : "", text ? "\"" : "", shown,
                         text ? "\"" : "");
}

/* "/a:/b:ro", as docker run has it, in the form of a mapping. Owned by the caller; NULL: it is
 * another text. */
static char *config_types_write_volume(const char *text)
{
    const size_t from = text ? strcspn(text, ":") : 0;
    const char *to = text + from + 1;
    const size_t length = from > 0 && text[from] ? strcspn(to, ":") : 0;

    if (length == 0)
        return NULL;
    if (!to[length])
        return memory_format("%.*s: %.*s", (int)from, text, (int)length, to);
    return memory_format("%.*s: {path: %.*s, mode: %s}", (int)from, text, (int)length, to,
                         to + length + 1);
}

/* A list in place of a mapping, whose first item may show what is meant. */
static char *config_types_explain_items(const char *key, const json_t *value)
{
    const char *first = json_string_value(json_array_get(value, 0));
    AUTO_FREE char *volume = strcmp(key, "volumes") == 0 ? config_types_write_volume(first) : NULL;

    if (volume)
        return memory_format("must be a mapping: {%.*s}", SHOWN_BYTES, volume);
    return memory_copy_string(
        "must be a mapping: {NAME: value}, or lines of NAME: value, not a list");
}

/* True if all members of the mapping KEY can be left out. */
static bool config_types_has_defaults(const char *key)
{
    static const char *const keys[] = {"callers", "code_blocks", "http", "limits", "sessions"};

    for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

static char *explain_object(const char *key, const json_t *value)
{
    AUTO_FREE char *text = NULL;

    if (!*key)
        return memory_copy_string("must be a mapping: lines of KEY: VALUE, with a space after the "
                                  "colon");
    if (json_is_array(value))
        return config_types_explain_items(key, value);
    if (json_is_null(value))
        return memory_copy_string("is empty: write lines of NAME: value below it, indented, or "
                                  "leave it out");
    if (json_is_true(value) && config_types_has_defaults(key))
        return memory_copy_string("must be a mapping, not true: {} has the defaults");
    if (json_is_false(value))
        return memory_copy_string("must be a mapping, not false: leave it out to have none");
    text = config_types_write(value);
    return memory_format("must be a mapping: {NAME: value}, or lines of NAME: value, not %s", text);
}

static char *explain_text(const char *key, const json_t *value)
{
    AUTO_FREE char *text = NULL;

    (void)key;
    if (json_is_null(value))
        return memory_copy_string("is empty: write a string, or leave it out");
    if (json_is_object(value) || json_is_array(value))
        return memory_format("must be a string, not a %s",
                             json_is_object(value) ? "mapping" : "list");
    text = config_types_write(value);
    return memory_format("must be a string: write \"%s\", in quotes", text);
}

static bool config_types_fits(const char *type, const json_t *value)
{
    return strcmp(type, json_type_name(value)) == 0 ||
           (strcmp(type, "number") == 0 && json_is_number(value));
}

char *config_types_explain(const char *type, const char *key, const json_t *value)
{
    static const struct {
        const char *type;
        char *(*explain)(const char *key, const json_t *value);
    } types[] = {
        {"array", explain_list},     {"boolean", explain_truth}, {"number", explain_number},
        {"integer", explain_number}, {"object", explain_object}, {"string", explain_text},
    };

    for (size_t i = 0; i < ARRAY_SIZE(types); i++)
        if (strcmp(types[i].type, type) == 0)
            return config_types_fits(type, value) ? NULL : types[i].explain(key, value);
    return NULL;
}

char *config_types_explain_choice(const json_t *choices, const json_t *value)
{
    AUTO_FREE char *list = json_list(choices);
    AUTO_FREE char *text = config_types_write(value);

    if (json_is_string(value))
        return NULL;
    return memory_format("must be %s%s, not %s", json_array_size(choices) > 1 ? "one of " : "",
                         list, json_is_null(value) ? "empty" : text);
}
