/* A page of tools from a server that is not trusted: it is kept within its limits, and the texts
 * about its tools have no invisible characters and no line ends. */
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/visible.h"
#include "server/tools/python/foreseen_tools.h"
#include "server/tools/python/tool_signature.h"
#include "server/tools/registry.h"
#include "server/tools/tool.h"
#include "toolbox/server_settings.h"
#include "toolbox/tool_list.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum outcome never_called(struct invocation *invocation, struct error *err)
{
    (void)invocation;
    (void)err;
    abort();
}

static void check_line(const char *text, size_t length)
{
    for (size_t at = 0; at < length;) {
        char shown[VISIBLE_BYTES];
        const size_t size = visible_character(text + at, length - at, shown);

        if (strlen(shown) != size || memcmp(shown, text + at, size) != 0 || text[at] == '\n')
            abort();
        at += size;
    }
}

static void check_tool(struct registry *registry, const json_t *tool)
{
    const char *description = json_object_get_string(tool, "description");
    AUTO_FREE char *sentence = tool_list_shorten(description ? description : "");
    AUTO(buffer_deinit) struct buffer line;
    struct error err = ERROR_INIT;

    buffer_init(&line, 1 << 20);
    tool_signature_append(&line, tool);
    check_line(buffer_bytes(&line), buffer_length(&line));
    check_line(sentence, strlen(sentence));
    (void)tool_register_function(
        registry,
        &(struct tool){
            .name = json_object_get_string(tool, "name"),
            .description = sentence,
            .input_schema = json_incref(json_object_get(tool, "inputSchema")),
            .output_schema = json_incref(json_object_get(tool, "outputSchema")),
            .annotations = json_incref(json_object_get(tool, "annotations")),
            .is_foreign = true,
            .start = never_called,
        },
        &err);
}

static void check_list(const struct tool_list *list, const char *text, size_t size)
{
    struct registry *registry = registry_new();
    AUTO_JSON json_t *known = json_pack("{s:[]}", "server");
    AUTO_JSON json_t *foreseen = NULL;
    const char *name;
    json_t *tool;

    json_object_foreach (list->tools, name, tool) {
        AUTO_JSON json_t *told = json_copy(tool);

        json_object_set_new(told, "server", json_string("server"));
        json_object_set_new(told, "asks", json_true());
        check_tool(registry, told);
        json_array_append(json_object_get(known, "server"), told);
    }
    foreseen = foreseen_tools_find(known, text, size);
    if (json_array_size(foreseen) > json_object_size(list->tools))
        abort();
    registry_free(registry);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char all[] = "*";
    static char *allow[] = {all, NULL};
    static char *deny[] = {NULL};
    static char name[] = "server";
    const struct server_settings settings = {.name = name, .allow = allow, .deny = deny};
    AUTO_JSON json_t *page = json_loadb((const char *)data, size, JSON_ALLOW_NUL, NULL);
    AUTO_JSON json_t *cursor = NULL;
    struct tool_list list;
    struct error err = ERROR_INIT;

    if (!json_is_object(page))
        return 0;
    tool_list_init(&list, true);
    if (tool_list_add(&list, &settings, page, &cursor, &err) == 0)
        check_list(&list, (const char *)data, size);
    tool_list_deinit(&list);
    return 0;
}
