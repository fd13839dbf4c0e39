#include "server/transport/login.h"

#include "base/list.h"
#include "base/memory.h"
#include "tests/unit/transport/turning.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#define LOGIN_SECONDS 1.5

static const char unauthorized[] =
    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"Unauthorized\"}}\n";

struct fixture {
    struct ev_loop *loop;
    struct authority *authority;
    struct login login;
    int client;
    unsigned dones;
    bool accepted;
    char rest[64]; /* what was read behind the line */
};

static void on_done(struct login *login, bool accepted)
{
    struct fixture *fixture = CONTAINER_OF(login, struct fixture, login);
    size_t length = buffer_length(&login->received);

    fixture->dones++;
    fixture->accepted = accepted;
    if (accepted) {
        assert_true(length < sizeof(fixture->rest));
        memcpy(fixture->rest, buffer_bytes(&login->received), length);
        fixture->rest[length] = '\0';
    }
    login_deinit(login);
    close(login->fd);
    login->fd = -1;
}

static void start(struct fixture *fixture, struct authority *authority)
{
    int ends[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
    fixture->client = ends[1];
    fixture->dones = 0;
    fixture->login = (struct login){
        .loop = fixture->loop,
        .authority = authority,
        .seconds = LOGIN_SECONDS,
        .fd = ends[0],
        .done = on_done,
    };
    login_start(&fixture->login);
}

static struct fixture *fixture_new(const char *token)
{
    struct fixture *fixture = NEW(struct fixture);
    struct credential credential = {"alice", token_of(token, strlen(token))};

    fixture->loop = ev_loop_new(EVFLAG_AUTO);
    fixture->authority = authority_new(&(struct authority_settings){
        .loop = fixture->loop,
        .credentials = &credential,
        .credential_count = 1,
    });
    return fixture;
}

static struct fixture *start_with_token(void)
{
    struct fixture *fixture = fixture_new("secret");

    start(fixture, fixture->authority);
    return fixture;
}

static struct fixture *start_without_token(void)
{
    struct fixture *fixture = fixture_new("secret");

    start(fixture, NULL);
    return fixture;
}

static void fixture_free(struct fixture *fixture)
{
    login_deinit(&fixture->login);
    if (fixture->login.fd >= 0)
        close(fixture->login.fd);
    if (fixture->client >= 0)
        close(fixture->client);
    authority_free(fixture->authority);
    ev_loop_destroy(fixture->loop);
    free(fixture);
}

static void say(struct fixture *fixture, const char *bytes)
{
    assert_int_equal(write(fixture->client, bytes, strlen(bytes)), strlen(bytes));
}

static void check_accepted(struct fixture *fixture, const char *rest)
{
    TURN_UNTIL(fixture->loop, fixture->dones > 0);
    assert_true(fixture->accepted);
    assert_string_equal(fixture->rest, rest);
}

/* Refused with ANSWER, and gone when the client goes. */
static void check_refused(struct fixture *fixture, const char *answer)
{
    char text[512];

    turn_until_closed(fixture->loop, fixture->client, text, sizeof(text));
    assert_string_equal(text, answer);
    close(fixture->client);
    fixture->client = -1;
    TURN_UNTIL(fixture->loop, fixture->dones > 0);
    assert_false(fixture->accepted);
}

static void test_a_client_that_cannot_be_watched_is_dropped(void **state)
{
    struct fixture *fixture = start_without_token();

    (void)state;
    turn_with_failure(fixture->loop, &fixture->login.readable);
    assert_int_equal(fixture->dones, 1);
    assert_false(fixture->accepted);
    fixture_free(fixture);
}

/* With a token */

static void test_the_token_lets_in(void **state)
{
    static const char *const lines[] = {
        "Authorization: Bearer secret\n",   "Authorization: Bearer secret\r\n",
        "authorization:bearer secret\n",    "AUTHORIZATION:  BEARER   secret \t\r\n",
        "Authorization:\tBearer secret \n",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
        struct fixture *fixture = start_with_token();

        print_message("%s", lines[i]);
        say(fixture, lines[i]);
        check_accepted(fixture, "");
        fixture_free(fixture);
    }
}

static void test_who_it_is_is_known(void **state)
{
    struct fixture *fixture = start_with_token();

    (void)state;
    say(fixture, "Authorization: Bearer secret\n");
    TURN_UNTIL(fixture->loop, fixture->dones > 0);
    assert_string_equal(fixture->login.check.principal, "alice");
    fixture_free(fixture);
}

static void test_a_nul_ends_no_token(void **state)
{
    static const char line[] = "Authorization: Bearer secret\0x\n";
    struct fixture *fixture = start_with_token();

    (void)state;
    assert_int_equal(write(fixture->client, line, sizeof line - 1), sizeof line - 1);
    check_refused(fixture, unauthorized);
    fixture_free(fixture);
}

static void test_what_follows_the_line_is_kept(void **state)
{
    struct fixture *fixture = start_with_token();

    (void)state;
    say(fixture, "Authorization: Bearer secret\n{\"a\":1}\n{\"b\"");
    check_accepted(fixture, "{\"a\":1}\n{\"b\"");
    fixture_free(fixture);
}

static void test_every_split_of_the_line(void **state)
{
    static const char line[] = "Authorization: Bearer secret\n";

    (void)state;
    for (size_t split = 1; split < sizeof(line) - 1; split++) {
        struct fixture *fixture = start_with_token();
        char first[sizeof(line)] = "";

        memcpy(first, line, split);
        say(fixture, first);
        turn_once(fixture->loop);
        say(fixture, line + split);
        check_accepted(fixture, "");
        fixture_free(fixture);
    }
}

static void test_anything_else_is_unauthorized(void **state)
{
    static const char *const lines[] = {
        "Authorization: Bearer secre\n",
        "Authorization: Bearer secret2\n",
        "Authorization: Bearer Secret\n",
        "Authorization: Bearer sec ret\n",
        "Authorization: Bearer \n",
        "Authorization: Bearer\n",
        "Authorization: Bearersecret\n",
        "Authorization: Basic secret\n",
        "Authorization secret\n",
        "Bearer secret\n",
        "secret\n",
        "\n",
        "\nAuthorization: Bearer secret\n",
        " Authorization: Bearer secret\n",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
        struct fixture *fixture = start_with_token();

        print_message("%s", lines[i]);
        say(fixture, lines[i]);
        check_refused(fixture, unauthorized);
        fixture_free(fixture);
    }
}

static void test_a_line_without_end_is_unauthorized(void **state)
{
    struct fixture *fixture = start_with_token();
    char line[LOGIN_LINE_BYTES + 1] = "";

    (void)state;
    memset(line, '{', LOGIN_LINE_BYTES);
    say(fixture, line);
    check_refused(fixture, unauthorized);
    fixture_free(fixture);
}

static void test_the_longest_token_fits_into_the_line(void **state)
{
    char text[TOKEN_MOST_BYTES + 1] = "";
    struct fixture *fixture;

    (void)state;
    memset(text, 't', TOKEN_MOST_BYTES);
    fixture = fixture_new(text);
    start(fixture, fixture->authority);
    say(fixture, "Authorization: Bearer ");
    say(fixture, text);
    say(fixture, "\r\n{}");
    check_accepted(fixture, "{}");
    fixture_free(fixture);
}

static void test_silence_is_closed_after_a_while(void **state)
{
    ev_tstamp begin = ev_time();
    struct fixture *fixture = start_with_token();

    (void)state;
    say(fixture, "Authorization: Bear");
    TURN_UNTIL(fixture->loop, fixture->dones > 0);
    assert_false(fixture->accepted);
    assert_true(ev_time() - begin >= LOGIN_SECONDS);
    fixture_free(fixture);
}

static void test_a_client_that_leaves_is_forgotten(void **state)
{
    struct fixture *fixture = start_with_token();

    (void)state;
    say(fixture, "Authorization: Bear");
    shutdown(fixture->client, SHUT_WR);
    TURN_UNTIL(fixture->loop, fixture->dones > 0);
    assert_false(fixture->accepted);
    fixture_free(fixture);
}

/* How long it takes until a bad token is answered. */
static double time_refusal(struct fixture *fixture)
{
    ev_tstamp begin = ev_time();

    start(fixture, fixture->authority);
    say(fixture, "Authorization: Bearer wrong\n");
    check_refused(fixture, unauthorized);
    return ev_time() - begin;
}

static void test_repeated_failures_are_answered_late(void **state)
{
    struct fixture *fixture = fixture_new("secret");

    (void)state;
    for (int i = 0; i < 5; i++)
        (void)time_refusal(fixture);
    assert_true(time_refusal(fixture) >= 0.2);
    assert_true(time_refusal(fixture) >= 0.2);
    fixture_free(fixture);
}

static void test_a_refused_client_is_not_listened_to_for_ever(void **state)
{
    ev_tstamp begin = ev_time();
    struct fixture *fixture = start_with_token();

    (void)state;
    say(fixture, "hello\n");
    while (fixture->dones == 0) {
        (void)send(fixture->client, "Authorization: Bearer secret\n", 29,
                   MSG_DONTWAIT | MSG_NOSIGNAL);
        turn_once(fixture->loop);
    }
    assert_false(fixture->accepted);
    assert_true(ev_time() - begin < 5);
    fixture_free(fixture);
}

/* Without one */

static void test_without_a_token_the_first_bytes_let_in(void **state)
{
    static const char *const lines[] = {"{\"a\":1}\n", "[", "\n", "this is no JSON\n", "null\n"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
        struct fixture *fixture = start_without_token();

        say(fixture, lines[i]);
        check_accepted(fixture, lines[i]);
        fixture_free(fixture);
    }
}

static void test_without_a_token_silence_is_no_fault(void **state)
{
    struct fixture *fixture = start_without_token();

    (void)state;
    turn_for(fixture->loop, 2 * LOGIN_SECONDS);
    assert_int_equal(fixture->dones, 0);
    say(fixture, "{}\n");
    check_accepted(fixture, "{}\n");
    fixture_free(fixture);
}

static void test_an_end_before_anything_was_decided_lets_in(void **state)
{
    struct fixture *fixture = start_without_token();

    (void)state;
    say(fixture, "null");
    shutdown(fixture->client, SHUT_WR);
    check_accepted(fixture, "null");
    fixture_free(fixture);
}

static void check_http(struct fixture *fixture)
{
    char text[1024];

    say(fixture, "POST /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n{\"jsonrpc\":\"2.0\"}\n");
    turn_until_closed(fixture->loop, fixture->client, text, sizeof(text));
    assert_memory_equal(text, "HTTP/1.1 400 Bad Request\r\n", 26);
    assert_non_null(strstr(text, "\r\n\r\nThis port does not speak HTTP."));
    close(fixture->client);
    fixture->client = -1;
    TURN_UNTIL(fixture->loop, fixture->dones > 0);
    assert_false(fixture->accepted);
    fixture_free(fixture);
}

static void test_http_is_told_what_this_is(void **state)
{
    (void)state;
    check_http(start_with_token());
    check_http(start_without_token());
}

static void test_tls_is_closed(void **state)
{
    struct fixture *fixture = start_without_token();

    (void)state;
    say(fixture, "\x16\x03\x01\x02\n{}\n");
    check_refused(fixture, "");
    fixture_free(fixture);
}

static const struct {
    const char *bytes;
    enum greeting greeting;
    size_t decided_after; /* bytes */
} greetings[] = {
    {"GET / HTTP/1.1\r\n", GREETING_HTTP, 5},
    {"POST /x HTTP/1.1\r\n", GREETING_HTTP, 6},
    {"post /x HTTP/1.1\r\n", GREETING_HTTP, 6},
    {"OPTIONS * HTTP/1.1\r\n", GREETING_HTTP, 9},
    {"PRI * HTTP/2.0\r\n", GREETING_HTTP, 5},
    {"GET http://x/ HTTP/1.1\r\n", GREETING_HTTP, 9},
    {"GET HTTPS://x/ HTTP/1.1\r\n", GREETING_HTTP, 10},
    {"CONNECT x:443 HTTP/1.1\r\n", GREETING_HTTP, 8},
    {"GET /\r\n", GREETING_HTTP, 5},
    {"\x16\x03\x01\x02", GREETING_TLS, 1},
    {"{\"jsonrpc\":\"2.0\"}", GREETING_LINE, 1},
    {"[]", GREETING_LINE, 1},
    {" {}", GREETING_LINE, 1},
    {"\n", GREETING_LINE, 1},
    {"\r\n{}", GREETING_LINE, 1},
    {"\xef\xbb\xbf{}", GREETING_LINE, 1},
    {"null\n", GREETING_LINE, 5},
    {"true \n", GREETING_LINE, 6},
    {"this is no JSON\n", GREETING_LINE, 6},
    {"hello http\n", GREETING_LINE, 11},
    {"Authorization: Bearer x\n", GREETING_LINE, 14},
    {"Content-Length: 10\r\n", GREETING_LINE, 8},
    {"abcdefghijklmnopqrstuvwxyz / HTTP/1.1", GREETING_LINE, 21},
};

static void test_decides_with_the_first_bytes_that_tell(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(greetings); i++) {
        size_t length = strlen(greetings[i].bytes);

        print_message("%s\n", greetings[i].bytes);
        assert_true(greetings[i].decided_after <= GREETING_BYTES);
        for (size_t seen = 0; seen < greetings[i].decided_after; seen++)
            assert_int_equal(greeting_classify(greetings[i].bytes, seen), GREETING_UNDECIDED);
        for (size_t seen = greetings[i].decided_after; seen <= length; seen++)
            assert_int_equal(greeting_classify(greetings[i].bytes, seen), greetings[i].greeting);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_client_that_cannot_be_watched_is_dropped),
        cmocka_unit_test(test_the_token_lets_in),
        cmocka_unit_test(test_who_it_is_is_known),
        cmocka_unit_test(test_a_nul_ends_no_token),
        cmocka_unit_test(test_what_follows_the_line_is_kept),
        cmocka_unit_test(test_every_split_of_the_line),
        cmocka_unit_test(test_anything_else_is_unauthorized),
        cmocka_unit_test(test_a_line_without_end_is_unauthorized),
        cmocka_unit_test(test_the_longest_token_fits_into_the_line),
        cmocka_unit_test(test_silence_is_closed_after_a_while),
        cmocka_unit_test(test_a_client_that_leaves_is_forgotten),
        cmocka_unit_test(test_repeated_failures_are_answered_late),
        cmocka_unit_test(test_a_refused_client_is_not_listened_to_for_ever),
        cmocka_unit_test(test_without_a_token_the_first_bytes_let_in),
        cmocka_unit_test(test_without_a_token_silence_is_no_fault),
        cmocka_unit_test(test_an_end_before_anything_was_decided_lets_in),
        cmocka_unit_test(test_http_is_told_what_this_is),
        cmocka_unit_test(test_tls_is_closed),
        cmocka_unit_test(test_decides_with_the_first_bytes_that_tell),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
