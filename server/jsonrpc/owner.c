#include "server/jsonrpc/owner.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"

#include <string.h>

#define OWNER_URI_SCHEME "pyexecd://"

/* The places of handles in the params of requests: each begins with one, or is a URI of one's file,
 * or a list of these. Arguments mean something else where no tool is called; what the protocol
 * names means the same in each method. */
static const struct {
    const char *method; /* NULL: any */
    const char *holder; /* the member of the params that has it; NULL: the params themselves */
    const char *member;
} OWNER_PLACES[] = {
    {"tools/call", "arguments", "session"},
    {"tools/call", "arguments", "fork"},
    {"tools/call", "arguments", "working_directory"},
    {NULL, NULL, "taskId"},
    {NULL, NULL, "uri"},
    {NULL, NULL, "cursor"},
    {NULL, NULL, "requestState"},
    {NULL, "notifications", "taskIds"},
    {NULL, "notifications", "resourceSubscriptions"},
};

struct owner_search {
    bool (*is_wanted)(void *data, const char *handle);
    void *data;
};

static const char *owner_look_at_text(const struct owner_search *search, const json_t *value)
{
    const char *text = json_string_value(value);

    if (text && text_starts_with(text, OWNER_URI_SCHEME))
        text += strlen(OWNER_URI_SCHEME);
    return text && search->is_wanted(search->data, text) ? text : NULL;
}

static const char *owner_look_at(const struct owner_search *search, const json_t *value)
{
    const char *found = owner_look_at_text(search, value);
    const json_t *part;
    size_t i;

    json_array_foreach (value, i, part) {
        if (!found)
            found = owner_look_at_text(search, part);
    }
    return found;
}

const char *owner_find_handle(const struct incoming *incoming,
                              bool (*is_wanted)(void *data, const char *handle), void *data)
{
    const struct owner_search search = {is_wanted, data};
    const char *method = json_object_get_string(incoming->value, "method");
    const json_t *params = json_object_get(incoming->value, "params");
    const char *found = NULL;

    for (size_t i = 0; i < ARRAY_SIZE(OWNER_PLACES) && !found; i++) {
        const char *wanted = OWNER_PLACES[i].method;
        const char *holder = OWNER_PLACES[i].holder;
        const json_t *object = holder ? json_object_get(params, holder) : params;

        if (!wanted || (method && strcmp(wanted, method) == 0))
            found = owner_look_at(&search, json_object_get(object, OWNER_PLACES[i].member));
    }
    return found;
}
