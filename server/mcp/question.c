#include "server/mcp/question.h"

#include "base/json.h"
#include "base/memory.h"
#include "server/mcp/form.h"
#include "server/mcp/result.h"

#include <string.h>

/* Elicitation */

/* Before 2025-11-25 there are forms only; only in 2025-11-25 a page has an id. */
static void translate_elicitation(json_t *params, enum mcp_version version)
{
    if (version < MCP_2025_11_25) {
        const json_t *schema = json_object_get(params, "requestedSchema");

        json_object_del(params, "mode");
        json_object_set_new(params, "requestedSchema", form_translate(schema));
    }
    if (version != MCP_2025_11_25)
        json_object_del(params, "elicitationId");
}

/* Sampling */

/* Appends MESSAGE, or one message for each block where it has several. */
static void split_message(const json_t *message, json_t *messages)
{
    const json_t *blocks = json_object_get(message, "content");
    json_t *block;
    size_t i;

    if (!json_is_array(blocks))
        json_array_append(messages, (json_t *)message);
    json_array_foreach (blocks, i, block) {
        json_t *part = json_copy((json_t *)message);

        json_object_set(part, "content", block);
        json_array_append_new(messages, part);
    }
}

/* Before 2025-11-25 a message was one block, and the model had no tools. */
static void translate_sampling(json_t *params, enum mcp_version version)
{
    static const struct result_member MEMBERS[] = {{"tools", MCP_2025_11_25},
                                                   {"toolChoice", MCP_2025_11_25}};
    AUTO_JSON json_t *messages = json_array();
    const json_t *message;
    size_t i;

    if (version >= MCP_2025_11_25)
        return;
    json_array_foreach (json_object_get(params, "messages"), i, message) {
        split_message(message, messages);
    }
    result_drop_newer(params, MEMBERS, ARRAY_SIZE(MEMBERS), version);
    json_object_set_new(params, "messages", result_messages(messages, version));
}

/* Any of them */

json_t *question_translate(const json_t *question, enum mcp_version version)
{
    const char *method = json_object_get_string(question, "method");
    json_t *params = json_copy(json_object_get(question, "params"));

    if (strcmp(method, "elicitation/create") == 0)
        translate_elicitation(params, version);
    if (strcmp(method, "sampling/createMessage") == 0)
        translate_sampling(params, version);
    return json_pack("{s:s, s:o*}", "method", method, "params", params);
}

json_t *question_restore(const json_t *question, enum mcp_version version, json_t *answer)
{
    const json_t *params = json_object_get(question, "params");

    if (version >= MCP_2025_11_25 ||
        strcmp(json_object_get_string(question, "method"), "elicitation/create") != 0)
        return json_incref(answer);
    return form_restore(json_object_get(params, "requestedSchema"), answer);
}

const char *question_need(const char *method)
{
    if (strcmp(method, "sampling/createMessage") == 0)
        return "a model has to be asked";
    if (strcmp(method, "roots/list") == 0)
        return "the directories of the client have to be known";
    return "a person has to be asked";
}
