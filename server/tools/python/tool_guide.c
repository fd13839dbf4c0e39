#include "server/tools/python/tool_guide.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "environments/environment.h"
#include "server/tools/python/guide.h"
#include "server/tools/python/python_host.h"
#include "server/tools/python/python_offer.h"
#include "server/tools/python/tool_signature.h"

#include <string.h>

/* From the longest text to the shortest. */
enum tool_guide_form {
    TOOL_GUIDE_SENTENCES,  /* signatures, and the first sentence of each tool */
    TOOL_GUIDE_SIGNATURES, /* signatures */
    TOOL_GUIDE_NAMES,      /* servers with the names of their tools */
    TOOL_GUIDE_SERVERS,    /* servers with the number of their tools */
};

/* The tools of all environments of an offer. */
struct tool_guide {
    json_t *tools;  /* object: of each server, an array of its tools that are known */
    json_t *places; /* object: of each server, an array of the environments that have it */
    size_t offered; /* environments */
};

static void tool_guide_deinit(struct tool_guide *guide)
{
    json_decref(guide->tools);
    json_decref(guide->places);
}

static json_t *tool_guide_list(json_t *lists, const char *name)
{
    json_t *list = json_object_get(lists, name);

    if (list)
        return list;
    list = json_array();
    json_object_set_new(lists, name, list);
    return list;
}

static void tool_guide_note(struct tool_guide *guide, const struct environment *environment,
                            const json_t *known)
{
    const char *server;
    json_t *tools;

    json_object_foreach ((json_t *)known, server, tools) {
        json_object_set(guide->tools, server, tools);
        json_array_append_new(tool_guide_list(guide->places, server),
                              json_string(environment->name));
    }
}

static void tool_guide_init(struct tool_guide *guide, const struct python_offer *offer)
{
    const struct python_settings *settings = offer->settings;
    const struct environment *environment;
    size_t position = 0;

    *guide = (struct tool_guide){.tools = json_object(), .places = json_object()};
    while (settings->known_tools && (environment = python_offer_next(offer, &position))) {
        AUTO_JSON json_t *known =
            settings->known_tools(settings->tools_data, environment, offer->principal);

        guide->offered++;
        tool_guide_note(guide, environment, known);
    }
}

/* The environments that have all servers; NULL: they differ. Borrowed. */
static const json_t *tool_guide_common_places(const struct tool_guide *guide)
{
    const json_t *first = json_object_iter_value(json_object_iter(guide->places));
    const char *server;
    json_t *places;

    json_object_foreach (guide->places, server, places)
        if (!json_equal(places, first))
            return NULL;
    return first;
}

static void tool_guide_append_names(struct buffer *text, const json_t *places)
{
    const json_t *place;
    size_t i;

    json_array_foreach (places, i, place)
        buffer_print(text, "%s%s", i ? ", " : "", json_string_value(place));
}

/* Where not all servers are in the same environments. */
static void tool_guide_append_places(struct buffer *text, const struct tool_guide *guide,
                                     const char *server)
{
    const json_t *places = json_object_get(guide->places, server);

    if (tool_guide_common_places(guide) || json_array_size(places) == guide->offered)
        return;
    buffer_print(text, "  # only in ");
    tool_guide_append_names(text, places);
}

static void tool_guide_append_tool(struct buffer *text, const struct tool_guide *guide,
                                   const json_t *tool, enum tool_guide_form form)
{
    const char *summary = json_object_get_string(tool, "summary");

    tool_signature_append(text, tool);
    if (form == TOOL_GUIDE_SENTENCES && summary && *summary)
        buffer_print(text, "  # %s", summary);
    if (json_is_true(json_object_get(tool, "asks")))
        buffer_print(text, "  # a person is asked");
    tool_guide_append_places(text, guide, json_object_get_string(tool, "server"));
    buffer_print(text, "\n");
}

static void tool_guide_append_server(struct buffer *text, const struct tool_guide *guide,
                                     const char *server, enum tool_guide_form form)
{
    const json_t *tools = json_object_get(guide->tools, server);
    const json_t *tool;
    size_t i;

    tool_signature_append_name(text, server);
    if (json_array_size(tools) == 0)
        buffer_print(text, ": tools.help(\"%s\") shows its tools", server);
    else if (form == TOOL_GUIDE_SERVERS)
        buffer_print(text, ": %zu tools", json_array_size(tools));
    else
        json_array_foreach (tools, i, tool) {
            buffer_print(text, "%s", i ? ", " : ": ");
            tool_signature_append_name(text, json_object_get_string(tool, "name"));
        }
    tool_guide_append_places(text, guide, server);
    buffer_print(text, "\n");
}

static void tool_guide_append_all(struct buffer *text, const struct tool_guide *guide,
                                  enum tool_guide_form form)
{
    const char *server;
    json_t *tools;

    json_object_foreach (guide->tools, server, tools) {
        const json_t *tool;
        size_t i;

        if (form >= TOOL_GUIDE_NAMES || json_array_size(tools) == 0)
            tool_guide_append_server(text, guide, server, form);
        else
            json_array_foreach (tools, i, tool)
                tool_guide_append_tool(text, guide, tool, form);
    }
}

static void tool_guide_append_list(struct buffer *text, const struct tool_guide *guide)
{
    enum tool_guide_form form = TOOL_GUIDE_SENTENCES;

    for (;; form++) {
        AUTO(buffer_deinit) struct buffer list;

        buffer_init(&list, GUIDE_BYTES);
        tool_guide_append_all(&list, guide, form);
        if (buffer_length(&list) > TOOL_GUIDE_BYTES && form < TOOL_GUIDE_SERVERS)
            continue;
        buffer_print(text, "%.*s", (int)buffer_length(&list), buffer_bytes(&list));
        break;
    }
    if (form > TOOL_GUIDE_SIGNATURES)
        buffer_print(text,
                     "print(tools.search(\"words\")) finds tools; tools.help(\"server.tool\") "
                     "prints one.\n");
}

static void tool_guide_append_use(struct buffer *text, const struct tool_guide *guide)
{
    const json_t *places = tool_guide_common_places(guide);

    buffer_print(text, "\n\n");
    if (places && json_array_size(places) < guide->offered) {
        buffer_print(text, "In the environment ");
        tool_guide_append_names(text, places);
        buffer_print(text, " it");
    } else {
        buffer_print(text, "It");
    }
    buffer_print(text, " can call these tools as functions, without network. Begin with `import "
                       "tools` and `from tools import ");
    tool_signature_append_name(text, json_object_iter_key(json_object_iter(guide->tools)));
    buffer_print(text,
                 "`; pass arguments by name; a result is a dict, list or text; a failure is a "
                 "tools.ToolError. tools.map(function, list) makes several calls at once. Call "
                 "many in one program, and print only what you need.\n");
}

void tool_guide_append(struct buffer *text, const struct python_offer *offer)
{
    AUTO(tool_guide_deinit) struct tool_guide guide;

    tool_guide_init(&guide, offer);
    if (json_object_size(guide.tools) == 0)
        return;
    tool_guide_append_use(text, &guide);
    tool_guide_append_list(text, &guide);
}
