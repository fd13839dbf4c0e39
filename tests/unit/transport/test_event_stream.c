#include "server/transport/http/event_stream.h"

#include "server/mcp/server.h"
#include "server/tools/registry.h"
#include "tests/unit/transport/exchange_double.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

struct fixture {
    struct mcp_server server;
    struct session session;
    struct http_names names;
    struct event_stream stream;
    unsigned ended;
    struct exchange_double first;
    struct exchange_double second;
};

static void on_ended(struct event_stream *stream)
{
    CONTAINER_OF(stream, struct fixture, stream)->ended++;
}

static int set_up(void **state)
{
    static const char *const none[] = {NULL};
    static struct fixture fixture;

    fixture = (struct fixture){.names = {none, none}};
    fixture.server = (struct mcp_server){.loop = EV_DEFAULT, .registry = registry_new()};
    mcp_server_init(&fixture.server);
    fixture.session.peer.server = &fixture.server;
    fixture.session.peer.negotiated = MCP_2025_11_25;
    fixture.stream = (struct event_stream){
        .loop = EV_DEFAULT,
        .names = &fixture.names,
        .session = &fixture.session,
        .number = 7,
        .ended = on_ended,
    };
    event_stream_init(&fixture.stream);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    event_stream_deinit(&fixture->stream);
    mcp_server_deinit(&fixture->server);
    registry_free(fixture->server.registry);
    return 0;
}

static void say(struct fixture *fixture, const char *text, bool last)
{
    struct sink *sink = &fixture->stream.sink;

    sink->send(sink, text, strlen(text), last, ERROR_NONE);
}

static void lose(struct exchange_double *exchange)
{
    struct http_answer *answer = exchange->exchange.data;

    answer->gone(answer);
}

static void test_an_answer_alone_is_a_plain_response(void **state)
{
    struct fixture *fixture = *state;

    event_stream_answer(&fixture->stream, &fixture->first.exchange, true);
    say(fixture, "answer", true);
    exchange_double_expect(&fixture->first, "200 answer\n");
    assert_int_equal(fixture->stream.state, EVENT_STREAM_OVER);
    assert_int_equal(fixture->ended, 1);
}

static void test_fields_are_those_of_a_response_that_is_no_error(void **state)
{
    struct fixture *fixture = *state;
    struct sink *sink = &fixture->stream.sink;

    fixture->stream.fields = "A: b\r\n";
    event_stream_answer(&fixture->stream, &fixture->first.exchange, true);
    sink->send(sink, "no", 2, true, ERROR_INVALID_PARAMS);
    exchange_double_expect(&fixture->first, "200 no\n");
    fixture->stream.state = EVENT_STREAM_QUIET;
    event_stream_answer(&fixture->stream, &fixture->first.exchange, true);
    sink->send(sink, "yes", 3, true, ERROR_NONE);
    exchange_double_expect(&fixture->first, "200 A: byes\n");
}

static void test_what_comes_first_makes_it_a_stream(void **state)
{
    struct fixture *fixture = *state;

    event_stream_answer(&fixture->stream, &fixture->first.exchange, true);
    say(fixture, "progress", false);
    exchange_double_expect(&fixture->first, "begin\n7:0 retry\n7:1 message progress\n");
    say(fixture, "answer", true);
    exchange_double_expect(&fixture->first, "7:2 message answer\nend\n");
    assert_int_equal(fixture->stream.state, EVENT_STREAM_COMPLETE);
    assert_int_equal(fixture->ended, 1);
}

static void test_older_revisions_get_no_empty_event(void **state)
{
    struct fixture *fixture = *state;

    fixture->session.peer.negotiated = MCP_2025_06_18;
    event_stream_answer(&fixture->stream, &fixture->first.exchange, true);
    fixture->stream.sink.release(&fixture->stream.sink);
    exchange_double_expect(&fixture->first, "");
    say(fixture, "progress", false);
    exchange_double_expect(&fixture->first, "begin\n7:1 message progress\n");
}

static void test_a_client_that_was_let_go_gets_the_rest_later(void **state)
{
    struct fixture *fixture = *state;

    event_stream_answer(&fixture->stream, &fixture->first.exchange, true);
    fixture->stream.sink.release(&fixture->stream.sink);
    exchange_double_expect(&fixture->first, "begin\n7:0 retry\nend\n");
    assert_int_equal(fixture->ended, 0);
    say(fixture, "progress", false);
    event_stream_resume(&fixture->stream, &fixture->second.exchange, 0);
    exchange_double_expect(&fixture->second, "begin\n7:0 retry\n7:1 message progress\n");
    say(fixture, "answer", true);
    exchange_double_expect(&fixture->second, "7:2 message answer\nend\n");
    exchange_double_expect(&fixture->first, "");
}

static void test_a_call_that_takes_long_becomes_a_stream(void **state)
{
    struct fixture *fixture = *state;

    event_stream_answer(&fixture->stream, &fixture->first.exchange, true);
    ev_invoke(EV_DEFAULT, &fixture->stream.quiet, EV_TIMER);
    exchange_double_expect(&fixture->first, "begin\n7:0 retry\n");
    say(fixture, "answer", true);
    exchange_double_expect(&fixture->first, "7:1 message answer\nend\n");
    event_stream_answer(&fixture->stream, &fixture->first.exchange, false);
    assert_false(ev_is_active(&fixture->stream.quiet));
}

static void test_what_is_complete_can_be_had_again(void **state)
{
    struct fixture *fixture = *state;

    event_stream_answer(&fixture->stream, &fixture->first.exchange, true);
    say(fixture, "progress", false);
    lose(&fixture->first);
    say(fixture, "answer", true);
    assert_int_equal(fixture->ended, 1);
    event_stream_resume(&fixture->stream, &fixture->second.exchange, 1);
    exchange_double_expect(&fixture->second, "begin\n7:1 retry\n7:2 message answer\nend\n");
    event_stream_resume(&fixture->stream, &fixture->second.exchange, 2);
    exchange_double_expect(&fixture->second, "begin\n7:2 retry\nend\n");
}

static void test_who_has_no_id_cannot_come_back(void **state)
{
    struct fixture *fixture = *state;

    event_stream_answer(&fixture->stream, &fixture->first.exchange, true);
    lose(&fixture->first);
    assert_true(fixture->stream.sink.answers_only); /* it cannot be asked */
    say(fixture, "progress", false);
    say(fixture, "answer", true);
    exchange_double_expect(&fixture->first, "");
    assert_int_equal(fixture->stream.state, EVENT_STREAM_OVER);
    assert_int_equal(fixture->ended, 1);
}

static void test_the_newer_connection_takes_over(void **state)
{
    struct fixture *fixture = *state;

    event_stream_answer(&fixture->stream, &fixture->first.exchange, true);
    say(fixture, "progress", false);
    exchange_double_expect(&fixture->first, "begin\n7:0 retry\n7:1 message progress\n");
    event_stream_resume(&fixture->stream, &fixture->second.exchange, 1);
    exchange_double_expect(&fixture->first, "end\n");
    say(fixture, "answer", true);
    exchange_double_expect(&fixture->first, "");
    exchange_double_expect(&fixture->second, "begin\n7:1 retry\n7:2 message answer\nend\n");
}

static void test_a_slow_client_waits_in_bounded_memory(void **state)
{
    static char large[10 * 1024];
    struct fixture *fixture = *state;

    memset(large, 'x', sizeof(large) - 1);
    event_stream_answer(&fixture->stream, &fixture->first.exchange, true);
    fixture->first.is_congested = true;
    say(fixture, "progress", false);
    exchange_double_expect(&fixture->first, "begin\n7:0 retry\n");
    assert_true(fixture->session.peer.slow);
    for (int i = 0; i < 1000; i++)
        say(fixture, large, false);
    assert_true(fixture->stream.log.bytes < 100 * 1024);
    say(fixture, "answer", true);
    exchange_double_expect(&fixture->first, "");
    assert_int_equal(fixture->ended, 0);
    fixture->first.is_congested = false;
    fixture->stream.answer.drained(&fixture->stream.answer);
    assert_non_null(strstr(fixture->first.done, "7:1002 message answer\nend\n"));
    assert_false(fixture->session.peer.slow);
    assert_int_equal(fixture->ended, 1);
}

static void test_there_is_room_for_more_while_a_client_is_there_and_takes_it(void **state)
{
    struct fixture *fixture = *state;
    const struct sink *sink = &fixture->stream.sink;

    event_stream_answer(&fixture->stream, &fixture->first.exchange, true);
    assert_true(sink_has_room(sink));
    fixture->first.is_congested = true;
    say(fixture, "progress", false);
    assert_false(sink_has_room(sink));
    fixture->first.is_congested = false;
    fixture->stream.answer.drained(&fixture->stream.answer);
    assert_true(sink_has_room(sink));
    lose(&fixture->first);
    assert_false(sink_has_room(sink));
    event_stream_resume(&fixture->stream, &fixture->second.exchange, 1);
    assert_true(sink_has_room(sink));
}

static void test_cancelled_calls_end_without_an_answer(void **state)
{
    struct fixture *fixture = *state;

    event_stream_answer(&fixture->stream, &fixture->first.exchange, true);
    fixture->stream.sink.close(&fixture->stream.sink);
    exchange_double_expect(&fixture->first, "begin\nend\n");
    assert_int_equal(fixture->stream.state, EVENT_STREAM_OVER);
    assert_int_equal(fixture->ended, 1);
}

static void test_cancelled_calls_that_may_not_stream_end_with_their_connection(void **state)
{
    struct fixture *fixture = *state;

    event_stream_answer(&fixture->stream, &fixture->first.exchange, false);
    fixture->stream.sink.close(&fixture->stream.sink);
    exchange_double_expect(&fixture->first, "abort\n");
}

static void test_the_end_of_the_session_is_told(void **state)
{
    struct fixture *fixture = *state;

    event_stream_answer(&fixture->stream, &fixture->first.exchange, true);
    event_stream_close(&fixture->stream);
    exchange_double_expect(&fixture->first, "refused 404 -32001\n");
    assert_int_equal(fixture->ended, 0);
}

static void test_what_belongs_to_no_request_never_ends(void **state)
{
    struct fixture *fixture = *state;

    fixture->stream.is_lasting = true;
    say(fixture, "nobody has listened yet", false);
    event_stream_resume(&fixture->stream, &fixture->first.exchange, 0);
    say(fixture, "news", false);
    exchange_double_expect(&fixture->first, "begin\n7:0 retry\n7:1 message news\n");
    lose(&fixture->first);
    say(fixture, "more", false);
    event_stream_resume(&fixture->stream, &fixture->second.exchange, fixture->stream.sent);
    exchange_double_expect(&fixture->second, "begin\n7:1 retry\n7:2 message more\n");
    event_stream_close(&fixture->stream);
    exchange_double_expect(&fixture->second, "end\n");
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_an_answer_alone_is_a_plain_response),
        TEST(test_fields_are_those_of_a_response_that_is_no_error),
        TEST(test_what_comes_first_makes_it_a_stream),
        TEST(test_older_revisions_get_no_empty_event),
        TEST(test_a_client_that_was_let_go_gets_the_rest_later),
        TEST(test_a_call_that_takes_long_becomes_a_stream),
        TEST(test_what_is_complete_can_be_had_again),
        TEST(test_who_has_no_id_cannot_come_back),
        TEST(test_the_newer_connection_takes_over),
        TEST(test_a_slow_client_waits_in_bounded_memory),
        TEST(test_there_is_room_for_more_while_a_client_is_there_and_takes_it),
        TEST(test_cancelled_calls_end_without_an_answer),
        TEST(test_cancelled_calls_that_may_not_stream_end_with_their_connection),
        TEST(test_the_end_of_the_session_is_told),
        TEST(test_what_belongs_to_no_request_never_ends),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
