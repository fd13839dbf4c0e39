#include "environments/engine/engine_request.h"

#include "base/json.h"
#include "base/list.h"
#include "base/memory.h"
#include "environments/engine/discard.h"
#include "tests/unit/engine/fake_engine.h"
#include "tests/unit/transport/turning.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct asked {
    struct engine_request request;
    bool done;
    int status;
    struct error err;
    char bytes[64];
    size_t data_length;
    unsigned pieces;
    bool cancels;
    unsigned sends;
};

static void on_done(struct engine_request *request, const struct engine_answer *answer,
                    const struct error *err)
{
    struct asked *asked = CONTAINER_OF(request, struct asked, request);

    assert_false(asked->done);
    asked->done = true;
    asked->status = answer->status;
    if (err)
        error_copy(&asked->err, err);
    strncat(asked->bytes, answer->bytes, sizeof asked->bytes - 1);
}

static void on_data(struct engine_request *request, const char *data, size_t length)
{
    struct asked *asked = CONTAINER_OF(request, struct asked, request);

    (void)data;
    asked->data_length += length;
    asked->pieces++;
    if (asked->cancels)
        engine_request_cancel(request);
}

static void ask(struct engine *engine, struct asked *asked, const char *path, double timeout)
{
    const struct engine_question question = {
        .method = "GET", .path = path, .timeout = timeout, .limit = 40};

    asked->request.done = on_done;
    engine_request_start(&asked->request, engine, &question);
    assert_false(asked->done);
}

static const struct fake_answer some_answers[] = {
    {.request = "GET /v1.41/good",
     .answer = "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n{\"a\":1}"},
    {.request = "GET /v1.41/drip",
     .answer =
         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
     .manner = FAKE_DRIPPING},
    {.request = "GET /v1.41/missing",
     .answer = "HTTP/1.1 404 Not Found\r\nContent-Length: 21\r\n\r\n{\"message\":\"no such\"}",
     .length = 0},
    {.request = "GET /v1.41/raw",
     .answer = "HTTP/1.1 409 Conflict\r\nContent-Length: 11\r\n\r\nin the way\n"},
    {.request = "GET /v1.41/empty", .answer = "HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n"},
    {.request = "GET /v1.41/already", .answer = "HTTP/1.1 304 Not Modified\r\n\r\n"},
    {.request = "GET /v1.41/silent",
     .answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
     .manner = FAKE_SILENT},
    {.request = "GET /v1.41/dies",
     .answer = "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n{\"a",
     .manner = FAKE_CLOSING},
    {.request = "GET /v1.41/hangs-up", .answer = "", .manner = FAKE_CLOSING},
    {.request = "GET /v1.41/long",
     .answer = "HTTP/1.1 200 OK\r\nContent-Length: 41\r\n\r\n"
               "12345678901234567890123456789012345678901"},
    {.request = "GET /v1.41/fits",
     .answer = "HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n"
               "1234567890123456789012345678901234567890"},
    {.request = "GET /v1.41/garbage", .answer = "no HTTP at all\r\n\r\n", .manner = FAKE_CLOSING},
    {.request = "DELETE /v1.41/gone", .answer = "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"},
    {.request = "DELETE /v1.41/here", .answer = "HTTP/1.1 204 OK\r\n\r\n"},
    {.request = "POST /v1.41/begin", .answer = "x", .manner = FAKE_SILENT},
    {.request = "POST /v1.41/upload", .answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"},
    {0},
};

struct fixture {
    struct ev_loop *loop;
    struct fake_engine *fake;
    struct engine *engine;
};

static struct fixture fixture_new(const struct fake_answer *answers)
{
    struct fixture fixture = {.loop = ev_loop_new(0)};

    fixture.fake = fake_engine_new(fixture.loop, answers);
    fixture.engine = fake_engine_client(fixture.fake);
    return fixture;
}

static void fixture_free(struct fixture *fixture)
{
    engine_free(fixture->engine);
    fake_engine_free(fixture->fake);
    ev_loop_destroy(fixture->loop);
}

static void test_answers_and_refusals(void **state)
{
    static const struct {
        const char *path;
        int status;
        const char *bytes;
        const char *message; /* NULL: success */
    } cases[] = {
        {"/good", 200, "{\"a\":1}", NULL},
        {"/drip", 200, "abcde", NULL},
        {"/already", 304, "", NULL},
        {"/fits", 200, "1234567890123456789012345678901234567890", NULL},
        {"/missing", 404, "{\"message\":\"no such\"}", "the Docker engine refused: no such"},
        {"/raw", 409, "in the way\n", "the Docker engine refused: in the way"},
        {"/empty", 503, "", "the Docker engine failed with status 503"},
        {"/other", 500, "what?", "the Docker engine failed: what?"},
        {"/dies", 0, "{\"a", "ended the connection"},
        {"/hangs-up", 0, "", "ended the connection"},
        {"/long", 0, "", "more than 40 bytes"},
        {"/garbage", 0, "", "cannot talk to the Docker engine at unix:"},
    };
    struct fixture fixture = fixture_new(some_answers);

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct asked asked = {0};

        ask(fixture.engine, &asked, cases[i].path, 0);
        TURN_UNTIL(fixture.loop, asked.done);
        if (asked.status != cases[i].status || strcmp(asked.bytes, cases[i].bytes) != 0 ||
            (asked.err.code != ERROR_NONE) != (cases[i].message != NULL) ||
            (cases[i].message && !strstr(asked.err.message, cases[i].message)))
            fail_msg("%s: %d, %s, %s", cases[i].path, asked.status, asked.bytes, asked.err.message);
    }
    assert_int_equal(fake_engine_count(fixture.fake, "_ping"), 1);
    fixture_free(&fixture);
}

static void test_connections_are_used_again(void **state)
{
    struct fixture fixture = fixture_new(some_answers);

    (void)state;
    for (int i = 0; i < 10; i++) {
        struct asked asked = {0};

        ask(fixture.engine, &asked, "/good", 0);
        TURN_UNTIL(fixture.loop, asked.done);
    }
    assert_int_equal(fake_engine_connections(fixture.fake), 1);
    fixture_free(&fixture);
}

static void test_many_are_asked_at_once(void **state)
{
    struct fixture fixture = fixture_new(some_answers);
    struct asked asked[50] = {0};

    (void)state;
    for (size_t i = 0; i < 50; i++)
        ask(fixture.engine, &asked[i], i % 2 ? "/silent" : "/drip", 0);
    TURN_UNTIL(fixture.loop, fake_engine_count(fixture.fake, "silent") == 25);
    fake_engine_speak(fixture.fake);
    for (size_t i = 0; i < 50; i++) {
        TURN_UNTIL(fixture.loop, asked[i].done);
        assert_string_equal(asked[i].bytes, i % 2 ? "ok" : "abcde");
    }
    fixture_free(&fixture);
}

static void test_slow_answer_is_given_up(void **state)
{
    struct fixture fixture = fixture_new(some_answers);
    struct asked asked = {0};

    (void)state;
    ask(fixture.engine, &asked, "/silent", 0.1);
    TURN_UNTIL(fixture.loop, asked.done);
    assert_int_equal(asked.err.code, ERROR_TIMEOUT);
    fixture_free(&fixture);
}

static void test_cancelled_requests_are_not_answered(void **state)
{
    struct fixture fixture = fixture_new(some_answers);
    struct asked early = {0};
    struct asked late = {0};

    (void)state;
    ask(fixture.engine, &early, "/good", 0);
    engine_request_cancel(&early.request); /* before the version is known */
    ask(fixture.engine, &late, "/silent", 0);
    TURN_UNTIL(fixture.loop, fake_engine_count(fixture.fake, "silent") == 1);
    engine_request_cancel(&late.request);
    engine_request_cancel(&late.request);
    fake_engine_speak(fixture.fake);
    turn_for(fixture.loop, 0.05);
    assert_false(early.done || late.done);
    assert_int_equal(fake_engine_count(fixture.fake, "good"), 0);
    fixture_free(&fixture);
}

static void test_streams_are_handed_over_and_may_be_cancelled_there(void **state)
{
    struct fixture fixture = fixture_new(some_answers);
    struct asked whole = {.request.data = on_data};
    struct asked refused = {.request.data = on_data};
    struct asked cancelled = {.request.data = on_data, .cancels = true};

    (void)state;
    ask(fixture.engine, &whole, "/drip", 0);
    ask(fixture.engine, &refused, "/raw", 0);
    ask(fixture.engine, &cancelled, "/drip", 0);
    TURN_UNTIL(fixture.loop, whole.done && refused.done);
    assert_int_equal(whole.data_length, 5);
    assert_string_equal(whole.bytes, "");
    assert_int_equal(refused.data_length, 0);
    assert_string_equal(refused.err.message, "the Docker engine refused: in the way");
    turn_for(fixture.loop, 0.05);
    assert_int_equal(cancelled.pieces, 1);
    assert_false(cancelled.done);
    fixture_free(&fixture);
}

/* Much at once: libcurl is paused meanwhile, and everything comes. */
static void test_large_stream_comes_whole(void **state)
{
    enum { LENGTH = 700000 };
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Length: 700000\r\n\r\n";
    char *text = memory_new(sizeof head - 1 + LENGTH, 1);
    struct fake_answer answers[] = {
        {.request = "GET /v1.41/", .answer = text, .length = sizeof head - 1 + LENGTH}, {0}};
    struct fixture fixture;
    struct asked asked = {.request.data = on_data};

    (void)state;
    memcpy(text, head, sizeof head - 1);
    fixture = fixture_new(answers);
    ask(fixture.engine, &asked, "/x", 0);
    TURN_UNTIL(fixture.loop, asked.done);
    assert_int_equal(asked.err.code, ERROR_NONE);
    assert_int_equal(asked.data_length, LENGTH);
    fixture_free(&fixture);
    free(text);
}

static ssize_t on_send(struct engine_request *request, char *room, size_t size, struct error *err)
{
    struct asked *asked = CONTAINER_OF(request, struct asked, request);

    assert_true(size > 0);
    if (asked->cancels && asked->sends == 2)
        return error_set(err, ERROR_LIMIT, "too much of it");
    if (asked->sends++ == 3)
        return 0;
    room[0] = 'x';
    return 1;
}

static void upload(struct engine *engine, struct asked *asked)
{
    const struct engine_question question = {.method = "POST", .path = "/upload"};

    asked->request.done = on_done;
    asked->request.send = on_send;
    engine_request_start(&asked->request, engine, &question);
}

static void test_body_is_sent_as_it_comes(void **state)
{
    struct fixture fixture = fixture_new(some_answers);
    struct asked whole = {0};
    struct asked broken = {.cancels = true};

    (void)state;
    upload(fixture.engine, &whole);
    upload(fixture.engine, &broken);
    TURN_UNTIL(fixture.loop, whole.done && broken.done);
    assert_int_equal(whole.status, 200);
    assert_int_equal(whole.sends, 4);
    assert_int_equal(broken.err.code, ERROR_LIMIT);
    assert_string_equal(broken.err.message, "too much of it");
    fixture_free(&fixture);
}

static void test_engine_that_was_restarted_is_used_again(void **state)
{
    struct fixture fixture = fixture_new(some_answers);
    struct asked asked[3] = {0};

    (void)state;
    ask(fixture.engine, &asked[0], "/good", 0);
    TURN_UNTIL(fixture.loop, asked[0].done);
    fake_engine_die(fixture.fake);
    ask(fixture.engine, &asked[1], "/good", 0);
    TURN_UNTIL(fixture.loop, asked[1].done);
    assert_non_null(strstr(asked[1].err.message, "no Docker engine at unix:"));
    assert_non_null(strstr(asked[1].err.message, ": No such file or directory"));
    fake_engine_come_back(fixture.fake);
    ask(fixture.engine, &asked[2], "/good", 0);
    TURN_UNTIL(fixture.loop, asked[2].done);
    assert_int_equal(asked[2].err.code, ERROR_NONE);
    assert_int_equal(fake_engine_count(fixture.fake, "_ping"), 2); /* it may be another version */
    fixture_free(&fixture);
}

static void test_nothing_is_asked_for_twice(void **state)
{
    struct fixture fixture = fixture_new(some_answers);
    const struct engine_question question = {.method = "POST", .path = "/begin"};
    struct asked asked = {.request.done = on_done};

    (void)state;
    engine_request_start(&asked.request, fixture.engine, &question);
    TURN_UNTIL(fixture.loop, fake_engine_count(fixture.fake, "begin") == 1);
    fake_engine_die(fixture.fake);
    fake_engine_come_back(fixture.fake);
    TURN_UNTIL(fixture.loop, asked.done);
    assert_non_null(strstr(asked.err.message, "ended the connection"));
    assert_int_equal(fake_engine_count(fixture.fake, "begin"), 1);
    fixture_free(&fixture);
}

static void test_version_is_negotiated(void **state)
{
    static const struct {
        const char *ping;
        const char *request; /* or NULL ... */
        const char *message; /* ... and why not */
    } cases[] = {
        {"HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nContent-Length: 0\r\n\r\n", "GET /v1.41/x", NULL},
        {"HTTP/1.1 200 OK\r\nApi-Version: 1.44\r\nContent-Length: 0\r\n\r\n", "GET /v1.44/x", NULL},
        {"HTTP/1.1 200 OK\r\nApi-Version: 1.99\r\nContent-Length: 0\r\n\r\n", "GET /v1.51/x", NULL},
        {"HTTP/1.1 200 OK\r\nApi-Version: 1.40\r\nContent-Length: 0\r\n\r\n", NULL,
         "is too old: it speaks API 1.40, 1.41 is needed (Docker 20.10)"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", NULL, "is no Docker engine (status 200)"},
        {"HTTP/1.1 404 No\r\nApi-Version: 1.41\r\nContent-Length: 0\r\n\r\n", NULL,
         "is no Docker engine (status 404)"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct fake_answer answers[] = {{.request = "GET /_ping", .answer = cases[i].ping},
                                              {0}};
        struct fixture fixture = fixture_new(answers);
        struct asked asked = {0};

        ask(fixture.engine, &asked, "/x", 0);
        TURN_UNTIL(fixture.loop, asked.done);
        if (cases[i].request)
            assert_non_null(strstr(fake_engine_log(fixture.fake), cases[i].request));
        else
            assert_non_null(strstr(asked.err.message, cases[i].message));
        fixture_free(&fixture);
    }
}

static void test_what_is_discarded_is_waited_for_and_tried_again(void **state)
{
    struct fixture fixture = fixture_new(some_answers);

    (void)state;
    assert_true(engine_is_idle(fixture.engine));
    fake_engine_die(fixture.fake);
    engine_discard(fixture.engine, "/here");
    engine_discard(fixture.engine, "/gone");
    turn_for(fixture.loop, 0.1);
    assert_false(engine_is_idle(fixture.engine));
    fake_engine_come_back(fixture.fake);
    TURN_UNTIL(fixture.loop, engine_is_idle(fixture.engine));
    assert_int_equal(fake_engine_count(fixture.fake, "DELETE /v1.41/here"), 1);
    engine_discard(fixture.engine, "/refused"); /* given up by engine_free */
    turn_for(fixture.loop, 0.1);
    assert_false(engine_is_idle(fixture.engine));
    fixture_free(&fixture);
}

static void test_text_is_escaped_for_a_path(void **state)
{
    char *escaped = engine_escape("a/b:c {\"x\":1}&\xC3\xBC%");

    (void)state;
    assert_string_equal(escaped, "a/b:c%20%7B%22x%22:1%7D%26%C3%BC%25");
    free(escaped);
    escaped = engine_escape("%"); /* which fills its memory */
    assert_string_equal(escaped, "%25");
    free(escaped);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers_and_refusals),
        cmocka_unit_test(test_connections_are_used_again),
        cmocka_unit_test(test_many_are_asked_at_once),
        cmocka_unit_test(test_slow_answer_is_given_up),
        cmocka_unit_test(test_cancelled_requests_are_not_answered),
        cmocka_unit_test(test_streams_are_handed_over_and_may_be_cancelled_there),
        cmocka_unit_test(test_large_stream_comes_whole),
        cmocka_unit_test(test_body_is_sent_as_it_comes),
        cmocka_unit_test(test_engine_that_was_restarted_is_used_again),
        cmocka_unit_test(test_nothing_is_asked_for_twice),
        cmocka_unit_test(test_version_is_negotiated),
        cmocka_unit_test(test_what_is_discarded_is_waited_for_and_tried_again),
        cmocka_unit_test(test_text_is_escaped_for_a_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
