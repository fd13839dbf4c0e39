#include "server/mcp/question.h"

#include "base/json.h"

#include <string.h>

/* A form was all there was before 2025-11-25; a page has had an id of its own in that one only. */
static void translate_elicitation(json_t *params, enum mcp_version version)
{
    if (version < MCP_2025_11_25)
        json_object_del(params, "mode");
    if (version != MCP_2025_11_25)
        json_object_del(params, "elicitationId");
}

json_t *question_translate(const json_t *question, enum mcp_version version)
{
    const char *method = json_object_get_string(question, "method");
    json_t *params = json_copy(json_object_get(question, "params"));

    if (strcmp(method, "elicitation/create") == 0)
        translate_elicitation(params, version);
    return json_pack("{s:s, s:o*}", "method", method, "params", params);
}

const char *question_need(const char *method)
{
    if (strcmp(method, "sampling/createMessage") == 0)
        return "a model has to be asked";
    if (strcmp(method, "roots/list") == 0)
        return "the directories of the client have to be known";
    return "a person has to be asked";
}
