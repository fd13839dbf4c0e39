#include "server/commands/provider.h"

#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

static const char INPUT_SCHEMA[] =
    "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\","
    "\"properties\":{"
    "\"code\":{\"type\":\"string\",\"maxLength\":1048576,\"description\":\"The program.\"},"
    "\"place\":{\"type\":\"string\",\"enum\":[\"here\",\"there\"]},"
    "\"timeout\":{\"type\":\"number\",\"exclusiveMinimum\":0,\"maximum\":600}},"
    "\"required\":[\"code\"],\"additionalProperties\":false}";

/* How the provider NAME declares a tool with these schemas; a new reference. */
static json_t *declare_with(const char *name, json_t *input_schema, json_t *output_schema,
                            json_t *annotations)
{
    struct error err = ERROR_INIT;
    const struct provider *provider = provider_find(name, &err);
    json_t *declaration;

    assert_non_null(provider);
    declaration = provider_declare(provider, &(struct provider_function){
                                                 .name = "run",
                                                 .title = "Run",
                                                 .description = "Runs.",
                                                 .input_schema = input_schema,
                                                 .output_schema = output_schema,
                                                 .annotations = annotations,
                                             });
    assert_non_null(declaration);
    return declaration;
}

/* The declaration of a small tool in the form of the provider NAME, as compact JSON. */
static char *declare(const char *name)
{
    AUTO_JSON json_t *input_schema = json_loads(INPUT_SCHEMA, 0, NULL);
    AUTO_JSON json_t *output_schema = json_pack("{s:s}", "type", "object");
    AUTO_JSON json_t *annotations = json_pack("{s:b}", "readOnlyHint", 0);
    AUTO_JSON json_t *declaration = declare_with(name, input_schema, output_schema, annotations);

    return json_text(declaration);
}

static void test_mcp_keeps_the_schema_as_it_is(void **state)
{
    AUTO_FREE char *text = declare("mcp");

    (void)state;
    assert_string_equal(
        text,
        "{\"name\":\"run\",\"title\":\"Run\",\"description\":\"Runs.\",\"inputSchema\":"
        "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\","
        "\"properties\":{"
        "\"code\":{\"type\":\"string\",\"maxLength\":1048576,\"description\":\"The program.\"},"
        "\"place\":{\"type\":\"string\",\"enum\":[\"here\",\"there\"]},"
        "\"timeout\":{\"type\":\"number\",\"exclusiveMinimum\":0,\"maximum\":600}},"
        "\"required\":[\"code\"],\"additionalProperties\":false},"
        "\"outputSchema\":{\"type\":\"object\"},\"annotations\":{\"readOnlyHint\":false}}");
}

static void test_openai_requires_everything_and_lets_the_optional_be_null(void **state)
{
    AUTO_FREE char *text = declare("openai");

    (void)state;
    assert_string_equal(
        text, "{\"type\":\"function\",\"function\":{\"name\":\"run\",\"description\":\"Runs.\","
              "\"strict\":true,\"parameters\":{\"type\":\"object\",\"properties\":{"
              "\"code\":{\"type\":\"string\","
              "\"description\":\"The program. At most 1048576 characters.\"},"
              "\"place\":{\"type\":[\"string\",\"null\"],\"enum\":[\"here\",\"there\",null]},"
              "\"timeout\":{\"type\":[\"number\",\"null\"],\"exclusiveMinimum\":0,"
              "\"maximum\":600}},"
              "\"required\":[\"code\",\"place\",\"timeout\"],\"additionalProperties\":false}}}");
}

/* The properties that PROVIDER's form of a tool with a nested object has. */
static size_t count_properties(const char *name, const char *parameters)
{
    static const char schema[] =
        "{\"type\":\"object\",\"properties\":{\"code\":{\"type\":\"string\"},"
        "\"place\":{\"type\":\"object\",\"properties\":{\"kind\":{\"type\":\"string\"}}}},"
        "\"required\":[\"code\"]}";
    AUTO_JSON json_t *input_schema = json_loads(schema, 0, NULL);
    AUTO_JSON json_t *none = json_object();
    AUTO_JSON json_t *declaration = declare_with(name, input_schema, none, none);

    return json_object_size(
        json_object_get(json_object_get(declaration, parameters), "properties"));
}

static void test_strict_forms_leave_optional_objects_out(void **state)
{
    (void)state;
    assert_int_equal(count_properties("mcp", "inputSchema"), 2);
    assert_int_equal(count_properties("anthropic", "input_schema"), 1);
    assert_int_equal(count_properties("openai-responses", "parameters"), 1);
}

static void test_openai_responses_are_flat(void **state)
{
    AUTO_FREE char *text = declare("openai-responses");
    AUTO_JSON json_t *tree = json_loads(text, 0, NULL);

    (void)state;
    assert_string_equal(json_object_get_string(tree, "type"), "function");
    assert_string_equal(json_object_get_string(tree, "name"), "run");
    assert_true(json_is_true(json_object_get(tree, "strict")));
    assert_int_equal(
        json_array_size(json_object_get(json_object_get(tree, "parameters"), "required")), 3);
}

static void test_anthropic_reads_limits_in_the_description(void **state)
{
    AUTO_FREE char *text = declare("anthropic");

    (void)state;
    assert_string_equal(
        text, "{\"name\":\"run\",\"description\":\"Runs.\",\"strict\":true,\"input_schema\":"
              "{\"type\":\"object\",\"properties\":{"
              "\"code\":{\"type\":\"string\","
              "\"description\":\"The program. At most 1048576 characters.\"},"
              "\"place\":{\"type\":\"string\",\"enum\":[\"here\",\"there\"]},"
              "\"timeout\":{\"type\":\"number\","
              "\"description\":\"At most 600. More than 0.\"}},"
              "\"required\":[\"code\"],\"additionalProperties\":false}}");
}

static void test_gemini_has_function_declarations(void **state)
{
    AUTO_FREE char *text = declare("gemini");

    (void)state;
    assert_string_equal(text,
                        "{\"functionDeclarations\":[{\"name\":\"run\",\"description\":\"Runs.\","
                        "\"parametersJsonSchema\":{\"type\":\"object\",\"properties\":{"
                        "\"code\":{\"type\":\"string\","
                        "\"description\":\"The program. At most 1048576 characters.\"},"
                        "\"place\":{\"type\":\"string\",\"enum\":[\"here\",\"there\"]},"
                        "\"timeout\":{\"type\":\"number\",\"maximum\":600,"
                        "\"description\":\"More than 0.\"}},"
                        "\"required\":[\"code\"],\"additionalProperties\":false}}]}");
}

static void test_an_unknown_provider_is_told_the_known_ones(void **state)
{
    struct error err = ERROR_INIT;

    (void)state;
    assert_null(provider_find("skynet", &err));
    assert_int_equal(err.code, ERROR_USAGE);
    assert_string_equal(err.message, "unknown provider skynet: must be mcp, openai, "
                                     "openai-responses, anthropic or gemini");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mcp_keeps_the_schema_as_it_is),
        cmocka_unit_test(test_openai_requires_everything_and_lets_the_optional_be_null),
        cmocka_unit_test(test_strict_forms_leave_optional_objects_out),
        cmocka_unit_test(test_openai_responses_are_flat),
        cmocka_unit_test(test_anthropic_reads_limits_in_the_description),
        cmocka_unit_test(test_gemini_has_function_declarations),
        cmocka_unit_test(test_an_unknown_provider_is_told_the_known_ones),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
