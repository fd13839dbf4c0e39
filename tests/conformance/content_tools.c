/* Tools that answer at once, with content of every type; one whose schema has everything. */
#include "base/json.h"
#include "base/memory.h"
#include "server/tools/invocation.h"
#include "server/tools/tool.h"
#include "tests/conformance/catalogue.h"

#include <string.h>

static enum outcome say_text(struct invocation *invocation, struct error *err)
{
    (void)err;
    catalogue_answer(invocation, "This is a simple text response for testing.");
    return OUTCOME_READY;
}

static enum outcome show_image(struct invocation *invocation, struct error *err)
{
    (void)err;
    invocation->result.content = json_pack("[o]", catalogue_image());
    return OUTCOME_READY;
}

static enum outcome play_audio(struct invocation *invocation, struct error *err)
{
    (void)err;
    invocation->result.content =
        catalogue_json("[{'type': 'audio', 'mimeType': 'audio/wav', 'data': "
                       "'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA='}]");
    return OUTCOME_READY;
}

static enum outcome embed_resource(struct invocation *invocation, struct error *err)
{
    (void)err;
    invocation->result.content = catalogue_json(
        "[{'type': 'resource', 'resource': {'uri': 'test://embedded-resource',"
        "  'mimeType': 'text/plain', 'text': 'This is an embedded resource content.'}}]");
    return OUTCOME_READY;
}

static enum outcome mix_content(struct invocation *invocation, struct error *err)
{
    (void)err;
    catalogue_answer(invocation, "Multiple content types test:");
    json_array_append_new(invocation->result.content, catalogue_image());
    json_array_append_new(invocation->result.content,
                          json_pack("{s:s, s:{s:s, s:s, s:s}}", "type", "resource", "resource",
                                    "uri", "test://mixed-content-resource", "mimeType",
                                    "application/json", "text",
                                    "{\"test\":\"data\",\"value\":123}"));
    return OUTCOME_READY;
}

static enum outcome fail(struct invocation *invocation, struct error *err)
{
    (void)err;
    catalogue_answer(invocation, "This tool intentionally returns an error for testing");
    invocation->result.is_error = true;
    return OUTCOME_READY;
}

static enum outcome greet(struct invocation *invocation, struct error *err)
{
    (void)err;
    catalogue_answer(invocation, "Hello, %s!",
                     json_object_get_string(invocation->arguments, "name"));
    return OUTCOME_READY;
}

static enum outcome repeat_arguments(struct invocation *invocation, struct error *err)
{
    char *text = json_dumps(invocation->arguments, JSON_COMPACT | JSON_SORT_KEYS);

    (void)err;
    catalogue_answer(invocation, "%s", text);
    free(text);
    return OUTCOME_READY;
}

static const char EVERYTHING[] =
    "{'$schema': 'https://json-schema.org/draft/2020-12/schema', 'type': 'object',"
    " '$defs': {'address': {'$anchor': 'addressDef', 'type': 'object', 'properties':"
    "   {'street': {'type': 'string'}, 'city': {'type': 'string'}}}},"
    " 'properties': {'name': {'type': 'string'}, 'address': {'$ref': '#/$defs/address'},"
    "   'contactMethod': {'type': 'string', 'enum': ['phone', 'email']},"
    "   'phone': {'type': 'string'}, 'email': {'type': 'string'}},"
    " 'allOf': [{'anyOf': [{'required': ['phone']}, {'required': ['email']}]}],"
    " 'if': {'properties': {'contactMethod': {'const': 'phone'}}, 'required': ['contactMethod']},"
    " 'then': {'required': ['phone']}, 'else': {'required': ['email']},"
    " 'additionalProperties': false}";

void catalogue_add_content_tools(struct registry *registry)
{
    static const struct tool TOOLS[] = {
        {.name = "test_simple_text", .description = "Answers with text.", .start = say_text},
        {.name = "test_image_content",
         .description = "Answers with a picture.",
         .start = show_image},
        {.name = "test_audio_content", .description = "Answers with a sound.", .start = play_audio},
        {.name = "test_embedded_resource",
         .description = "Answers with a resource.",
         .start = embed_resource},
        {.name = "test_multiple_content_types",
         .description = "Answers with content of several types.",
         .start = mix_content},
        {.name = "test_error_handling", .description = "Always fails.", .start = fail},
    };

    for (size_t i = 0; i < ARRAY_SIZE(TOOLS); i++)
        catalogue_add_tool(registry, &TOOLS[i], NULL);
    catalogue_add_tool(
        registry,
        &(struct tool){.name = "greet", .description = "Greets somebody.", .start = greet},
        "{'name': {'type': 'string'}}");
    catalogue_add_tool(registry,
                       &(struct tool){.name = "test_x_mcp_header",
                                      .description = "Has arguments that HTTP headers repeat.",
                                      .start = repeat_arguments},
                       "{'region': {'type': 'string', 'x-mcp-header': 'Region'},"
                       " 'limit': {'type': 'integer', 'x-mcp-header': 'Limit', 'default': 1}}");
    catalogue_add_tool(registry,
                       &(struct tool){.name = "json_schema_2020_12_tool",
                                      .description = "Has a schema that uses all of JSON Schema.",
                                      .input_schema = catalogue_json(EVERYTHING),
                                      .start = repeat_arguments},
                       NULL);
}
