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

    (void)key;
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

    if (!text)
        return NULL;
    if (digits > 0 && *text != '.' && digits < SHOWN_BYTES && !strcspn(text + digits, "sS"))
        return memory_format("must be a number%s: %.*s", is_time(key) ? " of seconds" : "",
                             (int)digits, text);
    return memory_format("must be a number%s, not \"%.*s\"",
                         is_time(key) ? " of seconds, such as 60" : "", SHOWN_BYTES, text);
}

static char *explain_object(const char *key, const json_t *value)
{
    if (!*key)
        return memory_copy_string("must be an object: lines of KEY: VALUE, with a space after the "
                                  "colon");
    return memory_format("must be an object: {NAME: value}, or lines of NAME: value, not %s",
                         json_is_array(value) ? "a list" : json_type_name(value));
}

static char *explain_text(const char *key, const json_t *value)
{
    AUTO_FREE char *text = NULL;

    (void)key;
    if (!json_is_number(value) && !json_is_boolean(value))
        return NULL;
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
