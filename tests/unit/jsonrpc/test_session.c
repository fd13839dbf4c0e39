/* What a transcript cannot show: flags of the sink, limits, the end of a session. */
#include "server/jsonrpc/session.h"

#include "base/json.h"
#include "base/memory.h"
#include "server/mcp/server.h"
#include "server/tools/registry.h"
#include "tests/fixture/tools.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* A session with the fixture's tools, and what it has sent. */
struct peer {
    struct sink sink;
    struct session session;
    struct mcp_server server;
    struct fixture fixture;
    size_t sent;
    size_t not_last;
    char *text; /* the newest message */
    bool last;
    enum error_code code;
};

static const struct mcp_peer_settings settings = {.principal = "somebody", .lasting = true};

static void keep(struct sink *sink, const char *text, size_t length, bool last,
                 enum error_code code)
{
    struct peer *peer = CONTAINER_OF(sink, struct peer, sink);

    free(peer->text);
    peer->text = strndup(text, length);
    assert_int_equal(strlen(peer->text), length);
    peer->last = last;
    peer->code = code;
    peer->sent++;
    peer->not_last += !last;
}

static void receive(struct peer *peer, const char *text)
{
    AUTO_FREE char *copy = memory_copy_string(text);

    session_receive(&peer->session, copy, strlen(copy));
}

static void open_peer(struct peer *peer, const char *version)
{
    AUTO_FREE char *initialize =
        memory_format("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\","
                      "\"params\":{\"protocolVersion\":\"%s\"}}",
                      version);

    *peer = (struct peer){.sink = {.send = keep}};
    peer->server = (struct mcp_server){
        .loop = EV_DEFAULT, .name = "n", .version = "1", .registry = registry_new()};
    mcp_server_init(&peer->server);
    fixture_init(&peer->fixture, peer->server.registry);
    session_init(&peer->session, &peer->server, &settings, &peer->sink);
    receive(peer, initialize);
    peer->sent = 0;
}

static void close_peer(struct peer *peer)
{
    session_deinit(&peer->session);
    mcp_server_deinit(&peer->server);
    registry_free(peer->server.registry);
    free(peer->text);
}

static void hold(struct peer *peer, int id, const char *padding)
{
    AUTO_FREE char *text = memory_format(
        "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":\"hold\","
        "\"_meta\":{\"progressToken\":%d,\"padding\":\"%s\"},\"arguments\":{\"name\":\"%d\"}}}",
        id, id, padding, id);

    receive(peer, text);
}

static void let_go(struct peer *peer, int held)
{
    AUTO_FREE char *text = memory_format(
        "{\"jsonrpc\":\"2.0\",\"id\":\"r\",\"method\":\"tools/call\",\"params\":{\"name\":"
        "\"release\",\"arguments\":{\"name\":\"%d\"}}}",
        held);

    receive(peer, text);
}

static void an_answer_is_the_last_message_of_its_exchange(void **state)
{
    struct peer peer;

    (void)state;
    open_peer(&peer, "2025-11-25");
    receive(&peer, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
    assert_true(peer.last);
    assert_int_equal(peer.code, 0);
    close_peer(&peer);
}

static void an_error_comes_with_its_code(void **state)
{
    static const struct {
        const char *text;
        enum error_code code;
    } CASES[] = {
        {"{", ERROR_PARSE},
        {"[]", ERROR_INVALID_REQUEST},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nothing\"}", ERROR_METHOD_NOT_FOUND},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}", ERROR_INVALID_PARAMS},
    };
    struct peer peer;

    (void)state;
    open_peer(&peer, "2025-11-25");
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        receive(&peer, CASES[i].text);
        assert_int_equal(peer.code, CASES[i].code);
        assert_true(peer.last);
    }
    close_peer(&peer);
}

static void a_notification_is_not_the_last_message(void **state)
{
    struct peer peer;

    (void)state;
    open_peer(&peer, "2025-11-25");
    hold(&peer, 1, "");
    let_go(&peer, 1);
    assert_int_equal(peer.sent, 3);
    assert_int_equal(peer.not_last, 1);
    close_peer(&peer);
}

static void a_slow_client_gets_answers_but_no_progress(void **state)
{
    struct peer peer;

    (void)state;
    open_peer(&peer, "2025-11-25");
    hold(&peer, 1, "");
    session_set_slow(&peer.session, true);
    let_go(&peer, 1);
    assert_int_equal(peer.sent, 2);
    session_set_slow(&peer.session, false);
    hold(&peer, 1, "");
    let_go(&peer, 1);
    assert_int_equal(peer.sent, 2 + 3);
    close_peer(&peer);
}

static void the_end_of_a_session_cancels_in_silence(void **state)
{
    struct peer peer;

    (void)state;
    open_peer(&peer, "2025-03-26");
    hold(&peer, 1, "");
    receive(&peer, "[{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":"
                   "\"hold\",\"arguments\":{\"name\":\"a\"}}},"
                   "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}]");
    assert_false(list_is_empty(&peer.fixture.held));
    session_deinit(&peer.session);
    assert_true(list_is_empty(&peer.fixture.held));
    assert_int_equal(peer.sent, 0);
    session_init(&peer.session, &peer.server, &settings, &peer.sink);
    close_peer(&peer);
}

static void too_many_calls_are_refused_until_some_end(void **state)
{
    struct peer peer;

    (void)state;
    open_peer(&peer, "2025-11-25");
    for (int i = 0; i < SESSION_CALLS; i++)
        hold(&peer, i, "");
    assert_int_equal(peer.sent, 0);
    hold(&peer, SESSION_CALLS, "");
    assert_int_equal(peer.code, ERROR_BUSY);
    assert_non_null(strstr(peer.text, "Busy: 256 requests wait for their answers"));
    receive(&peer, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                   "\"params\":{\"requestId\":7}}");
    receive(&peer, "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}");
    assert_string_equal(peer.text, "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"result\":{}}");
    close_peer(&peer);
}

static void too_many_bytes_in_flight_are_refused(void **state)
{
    enum { PADDING = 8 * 1024 * 1024 };
    AUTO_FREE char *padding = memory_new(PADDING + 1, 1);
    struct peer peer;

    (void)state;
    memset(padding, 'a', PADDING);
    open_peer(&peer, "2025-11-25");
    for (int i = 0; i < SESSION_HELD_BYTES / PADDING - 1; i++)
        hold(&peer, i, padding);
    assert_int_equal(peer.sent, 0);
    hold(&peer, 100, padding);
    assert_int_equal(peer.sent, 1);
    assert_non_null(strstr(peer.text, "Busy: requests of 67108864 bytes"));
    let_go(&peer, 0);
    hold(&peer, 100, padding);
    assert_int_equal(peer.sent, 1 + 3);
    close_peer(&peer);
}

static void a_line_that_was_skipped_is_answered(void **state)
{
    struct peer peer;

    (void)state;
    open_peer(&peer, "2025-11-25");
    session_refuse_line(&peer.session, 4096);
    assert_string_equal(peer.text,
                        "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":"
                        "\"Invalid Request: message is longer than 4096 bytes\"}}");
    close_peer(&peer);
}

static void a_session_is_idle_when_nothing_is_owed(void **state)
{
    struct peer peer;

    (void)state;
    open_peer(&peer, "2025-03-26");
    assert_true(session_is_idle(&peer.session));
    receive(&peer, "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
                   "\"hold\",\"arguments\":{\"name\":\"7\"}}}]");
    assert_false(session_is_idle(&peer.session));
    let_go(&peer, 7);
    assert_true(session_is_idle(&peer.session));
    close_peer(&peer);
}

/* Takes TEXT, whose answer goes to SINK. */
static bool take(struct peer *peer, const char *text, struct sink *sink)
{
    AUTO_FREE char *copy = memory_copy_string(text);
    struct incoming incoming;
    bool is_owed;

    incoming_init(&incoming, copy, strlen(copy));
    is_owed = session_take(&peer->session, &incoming, sink, NULL);
    incoming_deinit(&incoming);
    return is_owed;
}

/* An exchange of its own, as over HTTP. */
struct exchange {
    struct sink sink;
    unsigned sent;
    unsigned closed;
};

static void count_sent(struct sink *sink, const char *text, size_t length, bool last,
                       enum error_code code)
{
    CONTAINER_OF(sink, struct exchange, sink)->sent++;
    assert_int_equal(strlen(text), length);
    assert_true(last);
    assert_int_equal(code, ERROR_NONE);
}

static void count_closed(struct sink *sink)
{
    CONTAINER_OF(sink, struct exchange, sink)->closed++;
}

static void exchange_init(struct exchange *exchange)
{
    *exchange = (struct exchange){
        .sink = {.send = count_sent, .close = count_closed, .answers_only = true}};
}

#define HOLD_CALL                                                                                  \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"                \
    "\"hold\",\"_meta\":{\"progressToken\":1},\"arguments\":{\"name\":\"7\"}}}"
#define CANCEL                                                                                     \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}"

static void an_answer_goes_to_the_exchange_it_belongs_to(void **state)
{
    struct peer peer;
    struct exchange first;
    struct exchange second;

    (void)state;
    open_peer(&peer, "2025-11-25");
    exchange_init(&first);
    exchange_init(&second);
    assert_true(take(&peer, HOLD_CALL, &first.sink));
    assert_true(take(&peer, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}", &second.sink));
    assert_int_equal(second.sent, 1);
    assert_int_equal(first.sent, 0);
    let_go(&peer, 7); /* which tells progress, too: this exchange carries none */
    assert_int_equal(first.sent, 1);
    assert_int_equal(first.closed, 0);
    close_peer(&peer);
}

static void an_exchange_whose_call_is_cancelled_is_closed(void **state)
{
    struct peer peer;
    struct exchange exchange;

    (void)state;
    open_peer(&peer, "2025-03-26");
    exchange_init(&exchange);
    take(&peer, HOLD_CALL, &exchange.sink);
    assert_false(take(&peer, CANCEL, &peer.sink));
    assert_int_equal(exchange.closed, 1);
    take(&peer, "[" HOLD_CALL "]", &exchange.sink);
    take(&peer, CANCEL, &peer.sink);
    assert_int_equal(exchange.closed, 2);
    assert_int_equal(exchange.sent, 0);
    close_peer(&peer);
}

static void what_needs_no_answer_leaves_its_exchange_alone(void **state)
{
    static const char *const TEXTS[] = {CANCEL, "[" CANCEL "," CANCEL "]",
                                        "{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}"};
    struct peer peer;
    struct exchange exchange;

    (void)state;
    open_peer(&peer, "2025-03-26");
    exchange_init(&exchange);
    for (size_t i = 0; i < ARRAY_SIZE(TEXTS); i++)
        assert_false(take(&peer, TEXTS[i], &exchange.sink));
    assert_int_equal(exchange.sent + exchange.closed, 0);
    close_peer(&peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_is_the_last_message_of_its_exchange),
        cmocka_unit_test(an_error_comes_with_its_code),
        cmocka_unit_test(a_notification_is_not_the_last_message),
        cmocka_unit_test(a_slow_client_gets_answers_but_no_progress),
        cmocka_unit_test(the_end_of_a_session_cancels_in_silence),
        cmocka_unit_test(too_many_calls_are_refused_until_some_end),
        cmocka_unit_test(too_many_bytes_in_flight_are_refused),
        cmocka_unit_test(a_line_that_was_skipped_is_answered),
        cmocka_unit_test(a_session_is_idle_when_nothing_is_owed),
        cmocka_unit_test(an_answer_goes_to_the_exchange_it_belongs_to),
        cmocka_unit_test(an_exchange_whose_call_is_cancelled_is_closed),
        cmocka_unit_test(what_needs_no_answer_leaves_its_exchange_alone),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
