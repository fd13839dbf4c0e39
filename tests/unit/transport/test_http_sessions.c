#include "server/transport/http/http_sessions.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "tests/unit/transport/exchange_double.h"
#include "tests/unit/transport/turning.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { MOST = 4 };

static unsigned live; /* sessions */

/* Sessions whose calls are what `call_count` says. */

void session_init(struct session *session, struct mcp_server *server,
                  const struct mcp_peer_settings *settings, struct sink *sink)
{
    (void)server;
    assert_true(settings->lasting);
    *session = (struct session){.sink = sink};
    live++;
}

void session_deinit(struct session *session)
{
    (void)session;
    live--;
}

bool session_take(struct session *session, const struct incoming *incoming, struct sink *sink,
                  const struct mcp_headers *headers)
{
    (void)session;
    (void)incoming;
    (void)sink;
    (void)headers;
    return false;
}

bool session_is_idle(const struct session *session)
{
    return session->call_count == 0;
}

void session_set_slow(struct session *session, bool slow)
{
    session->peer.slow = slow;
}

static int set_up(void **state)
{
    static struct http_sessions sessions;

    sessions = (struct http_sessions){.loop = EV_DEFAULT, .most = MOST, .idle_seconds = 0.05};
    http_sessions_init(&sessions);
    *state = &sessions;
    return 0;
}

static int tear_down(void **state)
{
    http_sessions_deinit(*state);
    assert_int_equal(live, 0);
    return 0;
}

/* A session of PRINCIPAL, which has shown a token. */
static struct http_session *open_session(struct http_sessions *sessions, const char *principal)
{
    const struct holder holder = holder_of(&(struct peer){0}, principal);

    return http_sessions_open(sessions, principal, &holder);
}

static char *open_one(struct http_sessions *sessions, const char *principal)
{
    struct http_session *session = open_session(sessions, principal);

    return session ? memory_copy_string(session->id) : NULL;
}

static bool is_there(struct http_sessions *sessions, const char *id, const char *principal)
{
    return http_sessions_find(sessions, id, principal) != NULL;
}

static void test_a_session_is_found_by_its_own_principal_only(void **state)
{
    struct http_sessions *sessions = *state;
    AUTO_FREE char *id = open_one(sessions, "alice");

    assert_int_equal(strlen(id), HTTP_SESSION_DIGITS);
    assert_true(is_there(sessions, id, "alice"));
    assert_false(is_there(sessions, id, "bob"));
    assert_false(is_there(sessions, "", "alice"));
    id[HTTP_SESSION_DIGITS - 1] ^= 1;
    assert_false(is_there(sessions, id, "alice"));
}

static void test_the_longest_idle_makes_room(void **state)
{
    struct http_sessions *sessions = *state;
    AUTO_FREE char *first = open_one(sessions, "a");
    AUTO_FREE char *second = open_one(sessions, "b");
    AUTO_FREE char *third = open_one(sessions, "c");
    AUTO_FREE char *fourth = open_one(sessions, "d");
    AUTO_FREE char *fifth = NULL;

    assert_true(is_there(sessions, first, "a")); /* which touches it */
    fifth = open_one(sessions, "e");
    assert_true(is_there(sessions, first, "a"));
    assert_false(is_there(sessions, second, "b"));
    assert_true(is_there(sessions, third, "c"));
    assert_true(is_there(sessions, fourth, "d"));
    assert_true(is_there(sessions, fifth, "e"));
    assert_int_equal(sessions->count, MOST);
}

static void test_who_has_half_of_all_loses_its_own(void **state)
{
    struct http_sessions *sessions = *state;
    AUTO_FREE char *other = open_one(sessions, "bob");
    AUTO_FREE char *first = open_one(sessions, "alice");
    AUTO_FREE char *second = open_one(sessions, "alice");
    AUTO_FREE char *third = open_one(sessions, "alice");

    assert_true(is_there(sessions, other, "bob"));
    assert_false(is_there(sessions, first, "alice"));
    assert_true(is_there(sessions, second, "alice"));
    assert_true(is_there(sessions, third, "alice"));
}

/* A session of the process PARTY of a user. */
static char *open_of(struct http_sessions *sessions, uint64_t user, uint64_t party)
{
    const struct peer peer = {.family = AF_UNIX, .number = user, .party = party};
    const struct holder holder = holder_of(&peer, NULL);
    struct http_session *session = http_sessions_open(sessions, "user", &holder);

    return session ? memory_copy_string(session->id) : NULL;
}

static void test_programs_of_one_user_leave_room_for_another(void **state)
{
    struct http_sessions *sessions = *state;
    AUTO_FREE char *first = open_of(sessions, 1000, 1);
    AUTO_FREE char *second = open_of(sessions, 1000, 2);
    AUTO_FREE char *third = open_of(sessions, 1000, 3);
    AUTO_FREE char *fourth = open_of(sessions, 1000, 4);
    AUTO_FREE char *other = open_of(sessions, 0, 5);

    assert_false(is_there(sessions, first, "user"));
    assert_true(is_there(sessions, second, "user"));
    assert_true(is_there(sessions, third, "user"));
    assert_true(is_there(sessions, fourth, "user"));
    assert_true(is_there(sessions, other, "user"));
}

static void test_busy_sessions_make_no_room(void **state)
{
    struct http_sessions *sessions = *state;
    struct http_session *working = open_session(sessions, "alice");
    struct http_session *listening = open_session(sessions, "alice");
    static struct exchange_double exchange;

    working->session.call_count = 1;
    http_session_listen(listening, &exchange.exchange, NULL);
    exchange_double_expect(&exchange, "begin\n");
    assert_null(open_session(sessions, "alice"));
    working->session.call_count = 0;
    assert_non_null(open_session(sessions, "alice"));
}

static void test_idle_sessions_end(void **state)
{
    struct http_sessions *sessions = *state;
    struct http_session *working = open_session(sessions, "alice");
    AUTO_FREE char *busy = memory_copy_string(working->id);
    AUTO_FREE char *idle = open_one(sessions, "alice");

    working->session.call_count = 1;
    TURN_UNTIL(sessions->loop, sessions->count == 1);
    turn_for(sessions->loop, 0.2);
    assert_true(is_there(sessions, busy, "alice"));
    assert_false(is_there(sessions, idle, "alice"));
    working->session.call_count = 0;
    TURN_UNTIL(sessions->loop, sessions->count == 0);
}

/* A stream of SESSION that is complete, with an answer of LENGTH bytes in it. */
static struct event_stream *add_complete(struct http_session *session, size_t length)
{
    struct event_stream *stream = NEW(struct event_stream);
    char *text = memory_new(length, 1);

    *stream = (struct event_stream){.loop = session->owner->loop, .session = &session->session};
    event_stream_init(stream);
    event_log_append(&stream->log, text, length);
    stream->state = EVENT_STREAM_COMPLETE;
    list_append(&session->streams, &stream->link);
    http_sessions_keep(session->owner, stream);
    free(text);
    return stream;
}

static void test_complete_answers_are_kept_in_bounded_memory(void **state)
{
    enum { LARGE = 1024 * 1024 };
    static const char *const principals[MOST] = {"alice", "bob", "carol", "dave"};
    struct http_sessions *sessions = *state;
    struct http_session *opened[MOST];

    for (int p = 0; p < MOST; p++) {
        opened[p] = open_session(sessions, principals[p]);
        opened[p]->session.call_count = 1;
        for (int i = 0; i < 100; i++) {
            add_complete(opened[p], LARGE);
            turn_once(sessions->loop);
        }
        assert_int_equal(sessions->kept_count, 4 * (p + 1)); /* nobody has more than a fourth */
        assert_int_equal(sessions->kept_bytes, 4 * (p + 1) * LARGE);
    }
    for (int p = 0; p < MOST; p++)
        for (int i = 0; i < 500; i++)
            add_complete(opened[p], 1);
    assert_int_equal(sessions->kept_count, 1024);
    for (int p = 0; p < MOST; p++)
        http_sessions_close(opened[p]);
    assert_int_equal(sessions->kept_count, 0);
    assert_int_equal(sessions->kept_bytes, 0);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_session_is_found_by_its_own_principal_only),
        TEST(test_the_longest_idle_makes_room),
        TEST(test_who_has_half_of_all_loses_its_own),
        TEST(test_programs_of_one_user_leave_room_for_another),
        TEST(test_busy_sessions_make_no_room),
        TEST(test_idle_sessions_end),
        TEST(test_complete_answers_are_kept_in_bounded_memory),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
