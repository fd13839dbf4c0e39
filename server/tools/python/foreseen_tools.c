#include "server/tools/python/foreseen_tools.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "server/tools/python/tool_signature.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { FORESEEN_NAME_BYTES = 1024 };

static bool foreseen_is_letter(char letter)
{
    return isalnum((unsigned char)letter) || letter == '_';
}

/* WORD stands in CODE, and is no part of a longer one. */
static bool foreseen_has_word(const char *code, size_t length, const char *word, size_t size)
{
    const char *end = code + length;
    const char *at = code;

    while (size > 0 && (at = memmem(at, (size_t)(end - at), word, size))) {
        if ((at == code || !foreseen_is_letter(at[-1])) &&
            (at + size == end || !foreseen_is_letter(at[size])))
            return true;
        at++;
    }
    return false;
}

/* As it is, or as an attribute is called. */
static bool foreseen_has_name(const char *code, size_t length, const char *name)
{
    AUTO(buffer_deinit) struct buffer attribute;

    buffer_init(&attribute, FORESEEN_NAME_BYTES);
    tool_signature_append_name(&attribute, name);
    return foreseen_has_word(code, length, name, strlen(name)) ||
           foreseen_has_word(code, length, buffer_bytes(&attribute), buffer_length(&attribute));
}

json_t *foreseen_tools_find(const json_t *known, const char *code, size_t length)
{
    json_t *found = json_array();
    const char *server;
    json_t *tools;

    json_object_foreach ((json_t *)known, server, tools) {
        const json_t *tool;
        size_t i;

        if (!foreseen_has_name(code, length, server))
            continue;
        json_array_foreach (tools, i, tool) {
            const char *name = json_object_get_string(tool, "name");

            if (json_is_true(json_object_get(tool, "asks")) &&
                foreseen_has_name(code, length, name))
                json_array_append_new(found, json_sprintf("%s.%s", server, name));
        }
    }
    return found;
}
