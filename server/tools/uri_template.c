#include "server/tools/uri_template.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

#define QUERY "{?"

static const char NAME_CHARACTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                      "0123456789_";

/* A variable of a template and the literal behind it. */
struct variable {
    const char *name; /* of LENGTH bytes */
    size_t length;
    bool has_slashes;    /* {+name} */
    const char *literal; /* up to the next variable */
    size_t literal_length;
};

/* Finds the first variable at or behind TEXT, which is a checked template or the beginning of one;
 * false: there is none. */
static bool next_variable(const char *text, struct variable *ret)
{
    const char *open = strchr(text, '{');
    const char *name;
    const char *close;

    if (!open)
        return false;
    name = open + 1 + (open[1] == '+');
    close = name + strcspn(name, "}");
    *ret = (struct variable){.name = name,
                             .length = (size_t)(close - name),
                             .has_slashes = open[1] == '+',
                             .literal = close + (*close == '}'),
                             .literal_length = strcspn(close + (*close == '}'), "{")};
    return true;
}

/* The part of TEMPLATE before {?names}. Owned by the caller. *RET_QUERY is that, or "". */
static char *uri_template_path(const char *template, const char **ret_query)
{
    const char *query = strstr(template, QUERY);
    size_t length = query ? (size_t)(query - template) : strlen(template);

    *ret_query = template + length;
    return memory_format("%.*s", (int)length, template);
}

/* The bytes of the next name in the rest of a query; 0 behind the last one. Moves *REST behind it
 * and its comma. *RET_NAME is where it was. */
static size_t uri_template_next_name(const char **rest, const char **ret_name)
{
    size_t length = strspn(*rest, NAME_CHARACTERS);

    *ret_name = *rest;
    *rest += length;
    *rest += **rest == ',';
    return length;
}

static bool is_called(const struct variable *variable, const char *name)
{
    return strlen(name) == variable->length && memcmp(variable->name, name, variable->length) == 0;
}

static bool uri_template_path_has(const char *path, const char *name)
{
    struct variable variable;

    while (next_variable(path, &variable)) {
        if (is_called(&variable, name))
            return true;
        path = variable.literal;
    }
    return false;
}

static bool uri_template_query_has(const char *query, const char *name)
{
    const char *rest = *query ? query + strlen(QUERY) : query;
    struct variable variable = {0};

    while ((variable.length = uri_template_next_name(&rest, &variable.name)) > 0) {
        if (is_called(&variable, name))
            return true;
    }
    return false;
}

bool uri_template_has(const char *template, const char *name)
{
    const char *query;
    AUTO_FREE char *path = uri_template_path(template, &query);

    return uri_template_path_has(path, name) || uri_template_query_has(query, name);
}

/* Checking */

/* NAME, of LENGTH bytes, is in TEMPLATE. */
static int check_name(const char *template, const char *name, size_t length, struct error *err)
{
    AUTO_FREE char *copy = memory_format("%.*s", (int)length, name);
    AUTO_FREE char *before = memory_format("%.*s", (int)(name - template), template);

    if (length == 0)
        return error_set(err, ERROR_CONFIG, "a variable must be a name of A-Z a-z 0-9 _ in braces");
    if (uri_template_has(before, copy))
        return error_set(err, ERROR_CONFIG, "variable %s is there twice", copy);
    return 0;
}

/* *TEXT begins behind a brace, and is moved behind the next one. */
static int check_variable(const char *template, const char **text, struct error *err)
{
    const char *name = *text + (**text == '+');
    size_t length = strspn(name, NAME_CHARACTERS);

    if (check_name(template, name, name[length] == '}' ? length : 0, err) < 0)
        return -1;
    *text = name + length + 1;
    if (**text == '{' && (*text)[1] != '?')
        return error_set(err, ERROR_CONFIG, "variable %.*s is not apart from the next one",
                         (int)length, name);
    return 0;
}

/* *TEXT begins behind the brace and the question mark. */
static int check_query(const char *template, const char *text, struct error *err)
{
    const char *name;

    do {
        size_t length = uri_template_next_name(&text, &name);

        if (check_name(template, name, length, err) < 0)
            return -1;
    } while (text[-1] == ',');
    if (strcmp(text, "}") != 0)
        return error_set(err, ERROR_CONFIG, "the names behind a question mark must be its end");
    return 0;
}

int uri_template_check(const char *template, struct error *err)
{
    const char *rest = template;

    if (!strchr(template, '{'))
        return error_set(err, ERROR_CONFIG, "has no variable");
    while ((rest = strpbrk(rest, "{}"))) {
        if (*rest++ == '}')
            return error_set(err, ERROR_CONFIG, "has a brace that closes nothing");
        if (*rest == '?')
            return check_query(template, rest + 1, err);
        if (check_variable(template, &rest, err) < 0)
            return -1;
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
    size_t length = strlen(uri);
    size_t most = variable->has_slashes ? length : strcspn(uri, "/");
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

static bool uri_template_match_path(const char *template, const char *uri, json_t *values)
{
    size_t prefix = strcspn(template, "{");
    struct variable variable;

    if (strncmp(template, uri, prefix) != 0)
        return false;
    uri += prefix;
    for (template += prefix; next_variable(template, &variable); template = variable.literal) {
        if (!uri_template_take(&variable, &uri, values))
            return false;
    }
    return true;
}

/* Adds the value of PART, "name=value" of LENGTH bytes, which the template's QUERY must have. */
static bool uri_template_take_part(const char *query, const char *part, size_t length,
                                   json_t *values)
{
    const char *equals = memchr(part, '=', length);
    size_t name_length = equals ? (size_t)(equals - part) : length;
    AUTO_FREE char *name = memory_format("%.*s", (int)name_length, part);
    json_t *value;

    if (!equals || !uri_template_query_has(query, name) || json_object_get(values, name))
        return false;
    value = uri_template_decode(equals + 1, length - name_length - 1);
    json_object_set_new(values, name, value);
    return value != NULL;
}

/* URI is what follows the path: "" or "?name=value&..." in any order. */
static bool uri_template_match_query(const char *query, const char *uri, json_t *values)
{
    while (*uri) {
        size_t length = strcspn(++uri, "&");

        if (!uri_template_take_part(query, uri, length, values))
            return false;
        uri += length;
    }
    return true;
}

json_t *uri_template_match(const char *template, const char *uri)
{
    const char *query;
    AUTO_FREE char *path_template = uri_template_path(template, &query);
    size_t length = *query ? strcspn(uri, "?") : strlen(uri);
    AUTO_FREE char *path = memory_format("%.*s", (int)length, uri);
    json_t *values = json_object();

    if (uri_template_match_path(path_template, path, values) &&
        uri_template_match_query(query, uri + length, values))
        return values;
    json_decref(values);
    return NULL;
}
