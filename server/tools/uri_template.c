#include "server/tools/uri_template.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

static const char NAME_CHARACTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                      "0123456789_";

/* A variable of a template and the literal behind it. */
struct variable {
    const char *name; /* of LENGTH bytes */
    size_t length;
    const char *literal; /* up to the next variable */
    size_t literal_length;
};

/* Finds the first variable at or behind TEXT in a checked template; false: there is none. */
static bool next_variable(const char *text, struct variable *ret)
{
    const char *open = strchr(text, '{');
    const char *close;

    if (!open)
        return false;
    close = open + 1 + strcspn(open + 1, "}");
    *ret = (struct variable){.name = open + 1,
                             .length = (size_t)(close - open - 1),
                             .literal = close + 1,
                             .literal_length = strcspn(close + 1, "{")};
    return true;
}

static bool is_called(const struct variable *variable, const char *name)
{
    return strlen(name) == variable->length && memcmp(variable->name, name, variable->length) == 0;
}

bool uri_template_has(const char *template, const char *name)
{
    struct variable variable;

    while (next_variable(template, &variable)) {
        if (is_called(&variable, name))
            return true;
        template = variable.literal;
    }
    return false;
}

/* Checking */

/* TEXT begins behind a brace. */
static int check_variable(const char *text, const char *template, struct error *err)
{
    size_t length = strspn(text, NAME_CHARACTERS);
    AUTO_FREE char *name = memory_format("%.*s", (int)length, text);
    AUTO_FREE char *before = memory_format("%.*s", (int)(text - 1 - template), template);

    if (length == 0 || text[length] != '}')
        return error_set(err, ERROR_CONFIG, "a variable must be a name of A-Z a-z 0-9 _ in braces");
    if (text[length + 1] == '{')
        return error_set(err, ERROR_CONFIG, "variable %s is not apart from the next one", name);
    if (uri_template_has(before, name))
        return error_set(err, ERROR_CONFIG, "variable %s is there twice", name);
    return 0;
}

int uri_template_check(const char *template, struct error *err)
{
    const char *rest = template;

    if (!strchr(template, '{'))
        return error_set(err, ERROR_CONFIG, "has no variable");
    for (rest = strpbrk(rest, "{}"); rest; rest = strpbrk(rest, "{}")) {
        if (*rest == '}')
            return error_set(err, ERROR_CONFIG, "has a brace that closes nothing");
        if (check_variable(rest + 1, template, err) < 0)
            return -1;
        rest = strchr(rest, '}') + 1;
    }
    return 0;
}

/* Matching */

static int uri_template_hexadecimal(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    digit |= ' ';
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Decodes LENGTH bytes of TEXT. NULL if the result is not text. */
static json_t *uri_template_decode(const char *text, size_t length)
{
    AUTO_FREE char *bytes = memory_new(length + 1, 1);
    size_t done = 0;

    for (size_t i = 0; i < length; i++) {
        int high = i + 2 < length ? uri_template_hexadecimal(text[i + 1]) : -1;
        int low = i + 2 < length ? uri_template_hexadecimal(text[i + 2]) : -1;

        if (text[i] != '%') {
            bytes[done++] = text[i];
            continue;
        }
        if (high < 0 || low < 0 || high + low == 0)
            return NULL;
        bytes[done++] = (char)(high * 16 + low);
        i += 2;
    }
    return utf8_is_valid(bytes, done) ? json_stringn_nocheck(bytes, done) : NULL;
}

/* The number of bytes of URI that VARIABLE matches; 0: none. A variable ends at the first
 * occurrence of its literal: if the rest does not match then, it would not match later. */
static size_t uri_template_measure(const struct variable *variable, const char *uri)
{
    size_t most = strcspn(uri, "/");
    size_t length = strlen(uri);
    bool is_last = variable->literal[variable->literal_length] == '\0';

    if (is_last) {
        size_t value = length - variable->literal_length;

        if (length <= variable->literal_length || value > most ||
            strcmp(uri + value, variable->literal) != 0)
            return 0;
        return value;
    }
    for (size_t value = 1; value <= most; value++) {
        if (strncmp(uri + value, variable->literal, variable->literal_length) == 0)
            return value;
    }
    return 0;
}

/* Adds the value of VARIABLE at *URI, and moves *URI behind its literal. */
static bool uri_template_take(const struct variable *variable, const char **uri, json_t *values)
{
    size_t length = uri_template_measure(variable, *uri);
    json_t *value = length > 0 ? uri_template_decode(*uri, length) : NULL;
    AUTO_FREE char *name = memory_format("%.*s", (int)variable->length, variable->name);

    if (!value)
        return false;
    json_object_set_new(values, name, value);
    *uri += length + variable->literal_length;
    return true;
}

json_t *uri_template_match(const char *template, const char *uri)
{
    size_t prefix = strcspn(template, "{");
    struct variable variable;
    json_t *values;

    if (strncmp(template, uri, prefix) != 0)
        return NULL;
    values = json_object();
    uri += prefix;
    for (template += prefix; next_variable(template, &variable); template = variable.literal) {
        if (uri_template_take(&variable, &uri, values))
            continue;
        json_decref(values);
        return NULL;
    }
    return values;
}
