#include "server/jsonrpc/incoming.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define REQUEST(METHOD, PARAMS)                                                                    \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" METHOD "\",\"params\":{" PARAMS "}}"
#define ENVELOPE                                                                                   \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientCapabilities\":{}}"

static void it_is_known_what_came_in_before_anybody_takes_it(void **state)
{
    static const struct {
        const char *text;
        enum incoming_kind kind;
        bool is_endless;
    } CASES[] = {
        {"{", INCOMING_INVALID, false},
        {"7", INCOMING_INVALID, false},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", INCOMING_INVALID, false},
        {"[]", INCOMING_BATCH, false},
        {REQUEST("initialize", ""), INCOMING_INITIALIZE, false},
        {REQUEST("initialize", ENVELOPE), INCOMING_MODERN, false},
        {REQUEST("tools/list", ""), INCOMING_REQUEST, false},
        {REQUEST("tools/list", ENVELOPE), INCOMING_MODERN, false},
        {REQUEST("subscriptions/listen", ENVELOPE), INCOMING_MODERN, true},
        {REQUEST("subscriptions/listen", ""), INCOMING_REQUEST, false},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", INCOMING_NOTIFICATION,
         false},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", INCOMING_RESPONSE, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        AUTO_FREE char *text = memory_copy_string(CASES[i].text);
        struct incoming incoming;

        incoming_init(&incoming, text, strlen(text));
        assert_int_equal(incoming.kind, CASES[i].kind);
        assert_int_equal(incoming_is_endless(&incoming), CASES[i].is_endless);
        incoming_deinit(&incoming);
    }
}

static void who_asks_what_cannot_be_parsed_is_told_so(void **state)
{
    static const struct {
        const char *text;
        const char *id; /* NULL: there is none */
    } CASES[] = {
        {REQUEST("m", "\"code\":\"\\ud800\""), "1"},
        {REQUEST("m", "\"code\":\"\\ud83d\\ude00\\udc00x\\ud800\\ud800\""), "1"},
        {REQUEST("m", "\"co\\u0000de\":1"), "1"},
        {REQUEST("m", "\"code\":\"\xff\xc3\""), "1"},
        {REQUEST("m", "\"code\":1,\"code\":2"), NULL},
        {REQUEST("m", "\"code\":\"\\\\ud800\",\"x\":\"\\udc00\""), "1"},
        {"{\"id\":\"a\\ud800\",\"method\":\"m\"}", NULL},
        {"{\"id\":123456789012345678901234567890,\"method\":\"\\ud800\"}",
         "123456789012345678901234567890"},
        {"{\"id\":1,\"result\":\"\\ud800\"}", NULL},
        {"{\"method\":\"\\ud800\"}", NULL},
        {"{\"id\":1,\"method\":\"m\",\"params\":\"\\u12\"}", NULL},
        {"{\"id\":1,\"method\":\"m\",\"params\":\"\\", NULL},
        {"{\"id\":1,\"method\":\"m\"", NULL},
        {"[{\"id\":1,\"method\":\"\\ud800\"}]", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        AUTO_FREE char *text = memory_copy_string(CASES[i].text);
        struct incoming incoming;

        incoming_init(&incoming, text, strlen(text));
        assert_null(incoming.value);
        assert_int_equal(incoming.kind, INCOMING_INVALID);
        if (CASES[i].id)
            assert_string_equal(incoming.id, CASES[i].id);
        else
            assert_null(incoming.id);
        incoming_deinit(&incoming);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_asks_what_cannot_be_parsed_is_told_so),
        cmocka_unit_test(it_is_known_what_came_in_before_anybody_takes_it),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
