#include "server/mcp/result.h"

#include "base/json.h"
#include "base/memory.h"
#include "server/mcp/server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

static void assert_json(json_t *value, const char *text)
{
    AUTO_FREE char *got = json_text(value);

    assert_string_equal(got, text);
}

static void content_has_only_blocks_that_the_version_knows(void **state)
{
    static const struct {
        enum mcp_version version;
        const char *block;
        const char *translated;
    } CASES[] = {
        {MCP_2024_11_05, "{\"type\":\"text\",\"text\":\"a\"}",
         "[{\"type\":\"text\",\"text\":\"a\"}]"},
        {MCP_2024_11_05, "{\"type\":\"audio\",\"data\":\"\"}",
         "[{\"type\":\"text\",\"text\":\"[audio, which this protocol revision cannot carry]\"}]"},
        {MCP_2025_03_26, "{\"type\":\"audio\",\"data\":\"\"}",
         "[{\"type\":\"audio\",\"data\":\"\"}]"},
        {MCP_2025_03_26, "{\"type\":\"resource_link\",\"uri\":\"u\",\"name\":\"n\"}",
         "[{\"type\":\"text\",\"text\":\"u\"}]"},
        {MCP_2025_06_18, "{\"type\":\"resource_link\",\"uri\":\"u\",\"icons\":[]}",
         "[{\"type\":\"resource_link\",\"uri\":\"u\"}]"},
        {MCP_2026_07_28, "{\"type\":\"resource_link\",\"uri\":\"u\",\"icons\":[]}",
         "[{\"type\":\"resource_link\",\"uri\":\"u\",\"icons\":[]}]"},
        {MCP_2026_07_28, "{\"type\":\"hologram\"}",
         "[{\"type\":\"text\",\"text\":\"[hologram, which this protocol revision cannot "
         "carry]\"}]"},
        {MCP_2026_07_28, "{\"text\":\"a\"}",
         "[{\"type\":\"text\",\"text\":\"[block, which this protocol revision cannot "
         "carry]\"}]"},
        {MCP_2026_07_28, "null",
         "[{\"type\":\"text\",\"text\":\"[block, which this protocol revision cannot "
         "carry]\"}]"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        AUTO_JSON json_t *content =
            json_pack("[o]", json_loads(CASES[i].block, JSON_DECODE_ANY, NULL));
        AUTO_JSON json_t *translated = result_content(content, CASES[i].version);

        assert_json(translated, CASES[i].translated);
        assert_json(json_array_get(content, 0), CASES[i].block);
    }
}

static void annotations_lose_what_is_newer_and_stay_whole_in_the_original(void **state)
{
    static const char BLOCK[] = "[{\"type\":\"text\",\"text\":\"a\",\"annotations\":"
                                "{\"priority\":1,\"lastModified\":\"2026-01-01T00:00:00Z\"}}]";
    AUTO_JSON json_t *content = json_loads(BLOCK, 0, NULL);
    AUTO_JSON json_t *translated = result_content(content, MCP_2025_03_26);

    (void)state;
    assert_json(translated,
                "[{\"type\":\"text\",\"text\":\"a\",\"annotations\":{\"priority\":1}}]");
    assert_json(content, BLOCK);
}

static void no_content_is_an_empty_array(void **state)
{
    AUTO_JSON json_t *content = result_content(NULL, MCP_2025_11_25);

    (void)state;
    assert_json(content, "[]");
}

static void only_modern_results_say_what_and_from_whom_they_are(void **state)
{
    struct mcp_server server = {.name = "n", .title = "t", .version = "1"};
    AUTO_JSON json_t *plain =
        result_finish_cacheable(&server, MCP_2025_11_25, json_object(), &result_caching_list);
    AUTO_JSON json_t *full =
        result_finish_cacheable(&server, MCP_2026_07_28, json_object(), &result_caching_list);

    (void)state;
    assert_json(plain, "{}");
    assert_json(full, "{\"ttlMs\":300000,\"cacheScope\":\"public\",\"resultType\":\"complete\","
                      "\"_meta\":{\"io.modelcontextprotocol/serverInfo\":"
                      "{\"name\":\"n\",\"title\":\"t\",\"version\":\"1\"}}}");
}

static void a_server_may_have_no_title(void **state)
{
    struct mcp_server server = {.name = "n", .version = "1"};
    AUTO_JSON json_t *info = result_server_info(&server, MCP_2026_07_28);

    (void)state;
    assert_json(info, "{\"name\":\"n\",\"version\":\"1\"}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(content_has_only_blocks_that_the_version_knows),
        cmocka_unit_test(annotations_lose_what_is_newer_and_stay_whole_in_the_original),
        cmocka_unit_test(no_content_is_an_empty_array),
        cmocka_unit_test(only_modern_results_say_what_and_from_whom_they_are),
        cmocka_unit_test(a_server_may_have_no_title),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
