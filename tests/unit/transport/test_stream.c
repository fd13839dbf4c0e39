#include "server/transport/stream.h"

#include "base/memory.h"
#include "tests/unit/transport/session_double.h"
#include "tests/unit/transport/turning.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

enum {
    LINE_LIMIT = 100,
    UNSENT_LIMIT = 1000,
    FLOOD_BYTES = 1024 * 1024, /* more than any socket or pipe takes at once */
};

#define STALL_SECONDS 0.3

struct fixture {
    struct ev_loop *loop;
    struct transport_limits limits;
    struct stream stream;
    int client; /* the other side; -1 when closed */
    unsigned leavings;
    bool open;
};

static struct fixture *fixture_of(struct stream *stream)
{
    return CONTAINER_OF(stream, struct fixture, stream);
}

static void on_leaving(struct stream *stream)
{
    fixture_of(stream)->leavings++;
}

static void begin(struct fixture *fixture, int in, int out, double grace_seconds)
{
    stream_init(&fixture->stream, &(struct stream_settings){
                                      .loop = fixture->loop,
                                      .limits = &fixture->limits,
                                      .principal = "uid:1",
                                      .in = in,
                                      .out = out,
                                      .grace_seconds = grace_seconds,
                                      .leaving = on_leaving,
                                  });
    fixture->open = true;
}

static struct fixture *fixture_new(void)
{
    struct fixture *fixture = NEW(struct fixture);

    session_double_reset();
    fixture->loop = ev_loop_new(EVFLAG_AUTO);
    fixture->limits = (struct transport_limits){
        .line_bytes = LINE_LIMIT,
        .unsent_bytes = UNSENT_LIMIT,
        .stall_seconds = STALL_SECONDS,
    };
    fixture->client = -1;
    return fixture;
}

/* A stream over a socket pair of TYPE, without patience for what is left at the end. */
static struct fixture *serve_socket(int type, double grace_seconds)
{
    struct fixture *fixture = fixture_new();
    int ends[2];

    assert_int_equal(socketpair(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
    fixture->client = ends[1];
    begin(fixture, ends[0], ends[0], grace_seconds);
    return fixture;
}

static void hang_up(struct fixture *fixture)
{
    close(fixture->client);
    fixture->client = -1;
}

static void fixture_free(struct fixture *fixture)
{
    if (fixture->open)
        stream_deinit(&fixture->stream);
    if (fixture->client >= 0)
        close(fixture->client);
    ev_loop_destroy(fixture->loop);
    free(fixture);
    assert_int_equal(session_double.live, 0);
}

/* True once the stream has come to its end, which is noticed as its owner would. */
static bool is_over(struct fixture *fixture)
{
    return fixture->leavings > 0 && stream_settle(&fixture->stream);
}

static void say(struct fixture *fixture, const char *bytes)
{
    assert_int_equal(write(fixture->client, bytes, strlen(bytes)), strlen(bytes));
}

/* Reading and writing */

static void test_lines_are_served_in_order(void **state)
{
    struct fixture *fixture = serve_socket(SOCK_STREAM, 0);

    (void)state;
    say(fixture, "echo a\necho b\r\n\necho c\n");
    turn_until_received(fixture->loop, fixture->client, "a\nb\nc\n");
    assert_int_equal(session_double.lines, 3);
    assert_string_equal(session_double.principal, "uid:1");
    fixture_free(fixture);
}

static void test_a_message_is_one_write(void **state)
{
    struct fixture *fixture = serve_socket(SOCK_SEQPACKET, 0); /* keeps writes apart */
    char packet[16];

    (void)state;
    say(fixture, "echo a\necho b\n");
    TURN_UNTIL(fixture->loop, session_double.lines == 2);
    assert_int_equal(recv(fixture->client, packet, sizeof(packet), 0), 2);
    assert_memory_equal(packet, "a\n", 2);
    assert_int_equal(recv(fixture->client, packet, sizeof(packet), 0), 2);
    assert_memory_equal(packet, "b\n", 2);
    fixture_free(fixture);
}

static void test_every_split_of_two_messages(void **state)
{
    static const char input[] = "echo one\r\necho two\n";

    (void)state;
    for (size_t split = 1; split < sizeof(input) - 1; split++) {
        struct fixture *fixture = serve_socket(SOCK_STREAM, 0);
        char first[sizeof(input)] = "";

        memcpy(first, input, split);
        say(fixture, first);
        turn_once(fixture->loop);
        say(fixture, input + split);
        turn_until_received(fixture->loop, fixture->client, "one\ntwo\n");
        fixture_free(fixture);
    }
}

static void test_nul_bytes_reach_the_session(void **state)
{
    struct fixture *fixture = serve_socket(SOCK_STREAM, 0);

    (void)state;
    assert_int_equal(write(fixture->client, "a\0b\n", 4), 4);
    TURN_UNTIL(fixture->loop, session_double.lines == 1);
    assert_int_equal(session_double.last_length, 3);
    assert_memory_equal(session_double.last_line, "a\0b", 3);
    fixture_free(fixture);
}

static void test_a_line_beyond_the_limit_is_refused_and_the_next_served(void **state)
{
    struct fixture *fixture = serve_socket(SOCK_STREAM, 0);
    char line[3 * LINE_LIMIT + 2] = "";

    (void)state;
    memset(line, 'x', sizeof(line) - 2);
    line[sizeof(line) - 2] = '\n';
    say(fixture, line);
    say(fixture, "echo next\n");
    turn_until_received(fixture->loop, fixture->client, "longer than 100\nnext\n");
    assert_int_equal(session_double.refused, 1);
    fixture_free(fixture);
}

static void test_bytes_that_were_read_before_come_first(void **state)
{
    struct fixture *fixture = serve_socket(SOCK_STREAM, 0);

    (void)state;
    stream_receive(&fixture->stream, "echo a\necho", 11);
    say(fixture, " b\n");
    turn_until_received(fixture->loop, fixture->client, "a\nb\n");
    fixture_free(fixture);
}

static void test_pipes_are_served_too(void **state)
{
    struct fixture *fixture = fixture_new();
    char text[8] = "";
    int in[2];
    int out[2];

    (void)state;
    assert_int_equal(pipe2(in, O_CLOEXEC | O_NONBLOCK), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC | O_NONBLOCK), 0);
    begin(fixture, in[0], out[1], 0);
    assert_int_equal(write(in[1], "echo a\n", 7), 7);
    TURN_UNTIL(fixture->loop, session_double.lines == 1);
    assert_int_equal(read(out[0], text, sizeof(text)), 2);
    assert_string_equal(text, "a\n");
    close(in[1]);
    TURN_UNTIL(fixture->loop, is_over(fixture));
    close(out[0]);
    fixture_free(fixture);
}

/* epoll refuses regular files. */
static void test_a_regular_file_is_served_to_its_end(void **state)
{
    struct fixture *fixture = fixture_new();
    char text[8] = "";
    FILE *input = tmpfile();
    int out[2];

    (void)state;
    fputs("echo a\necho b\n", input);
    rewind(input);
    assert_int_equal(pipe2(out, O_CLOEXEC | O_NONBLOCK), 0);
    begin(fixture, dup(fileno(input)), out[1], 1);
    TURN_UNTIL(fixture->loop, is_over(fixture));
    assert_int_equal(read(out[0], text, sizeof(text)), 4);
    assert_string_equal(text, "a\nb\n");
    fclose(input);
    close(out[0]);
    fixture_free(fixture);
}

static void test_the_last_line_may_fill_the_output(void **state)
{
    struct fixture *fixture = serve_socket(SOCK_STREAM, 0);
    char text[1];

    (void)state;
    say(fixture, "fill 1048576");
    shutdown(fixture->client, SHUT_WR);
    TURN_UNTIL(fixture->loop, session_double.lines == 1);
    for (size_t length = 0; !is_over(fixture); turn_once(fixture->loop))
        turning_read(fixture->client, text, sizeof(text), &length);
    fixture_free(fixture);
}

static void test_a_stream_that_cannot_be_watched_is_closed(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct fixture *fixture = serve_socket(SOCK_STREAM, 0);

        turn_with_failure(fixture->loop,
                          i == 0 ? &fixture->stream.readable : &fixture->stream.writable);
        assert_int_equal(fixture->stream.state, STREAM_CLOSED);
        fixture_free(fixture);
    }
}

/* Clients that do not read */

static void test_untaken_output_stops_reading_until_it_is_taken(void **state)
{
    struct fixture *fixture = serve_socket(SOCK_STREAM, 0);
    char newlines[TURNING_PIECE];
    char text[1];
    size_t length = 0;

    (void)state;
    memset(newlines, '\n', sizeof(newlines));
    say(fixture, "fill 1048576\necho held back\n");
    TURN_UNTIL(fixture->loop, session_double.lines == 1);
    say(fixture, "echo not even read\n");
    for (int i = 0; i < 5; turn_once(fixture->loop), i++)
        while (send(fixture->client, newlines, sizeof(newlines), MSG_DONTWAIT) > 0)
            ;
    assert_int_equal(session_double.lines, 1);
    assert_true(session_double.session->peer.slow);
    TURN_UNTIL(fixture->loop,
               turning_read(fixture->client, text, 1, &length) && session_double.lines == 3);
    assert_false(session_double.session->peer.slow);
    turn_until_received(fixture->loop, fixture->client, "");
    fixture_free(fixture);
}

static void test_a_client_that_takes_nothing_is_closed(void **state)
{
    struct fixture *fixture = serve_socket(SOCK_STREAM, 0);
    ev_tstamp start;

    (void)state;
    say(fixture, "call\nfill 1048576\n");
    TURN_UNTIL(fixture->loop, session_double.lines == 2);
    start = ev_time();
    TURN_UNTIL(fixture->loop, is_over(fixture));
    assert_true(ev_time() - start >= STALL_SECONDS / 2);
    stream_deinit(&fixture->stream);
    fixture->open = false;
    assert_int_equal(session_double.cancelled, 1);
    fixture_free(fixture);
}

static void test_a_client_that_takes_a_little_is_not(void **state)
{
    struct fixture *fixture = serve_socket(SOCK_STREAM, 0);
    char piece[32 * 1024];

    (void)state;
    say(fixture, "fill 8388608\n");
    TURN_UNTIL(fixture->loop, session_double.lines == 1);
    for (ev_tstamp end = ev_time() + 3 * STALL_SECONDS; ev_time() < end;) {
        assert_true(recv(fixture->client, piece, sizeof(piece), 0) > 0);
        turn_for(fixture->loop, STALL_SECONDS / 30);
    }
    assert_int_equal(fixture->stream.state, STREAM_SERVING);
    assert_true(buffer_length(&fixture->stream.unsent) > 0);
    fixture_free(fixture);
}

static void test_answers_beyond_all_limits_close_the_client(void **state)
{
    struct fixture *fixture = serve_socket(SOCK_STREAM, 0);
    struct sink *sink = &fixture->stream.sink;
    char *piece = memory_new(FLOOD_BYTES, 1);

    (void)state;
    for (size_t sent = 0; sent <= (size_t)STREAM_OVERRUN_BYTES + FLOOD_BYTES; sent += FLOOD_BYTES)
        sink->send(sink, piece, FLOOD_BYTES, true, 0);
    assert_int_equal(fixture->stream.state, STREAM_CLOSED);
    assert_int_equal(fixture->leavings, 1);
    sink->send(sink, piece, FLOOD_BYTES, true, 0); /* goes nowhere */
    free(piece);
    fixture_free(fixture);
}

/* Clients that go */

static void test_half_close_lets_calls_finish(void **state)
{
    struct fixture *fixture = serve_socket(SOCK_STREAM, 0);
    char text[32];

    (void)state;
    say(fixture, "call\necho a\n");
    shutdown(fixture->client, SHUT_WR);
    TURN_UNTIL(fixture->loop, fixture->leavings == 1);
    turn_for(fixture->loop, 0.2);
    assert_false(is_over(fixture));
    session_double_answer("late");
    TURN_UNTIL(fixture->loop, is_over(fixture));
    stream_deinit(&fixture->stream);
    fixture->open = false;
    turn_until_closed(fixture->loop, fixture->client, text, sizeof(text));
    assert_string_equal(text, "a\nlate\n");
    assert_int_equal(session_double.cancelled, 0);
    fixture_free(fixture);
}

static void test_the_last_line_needs_no_newline(void **state)
{
    struct fixture *fixture = serve_socket(SOCK_STREAM, 0);

    (void)state;
    say(fixture, "echo a");
    shutdown(fixture->client, SHUT_WR);
    turn_until_received(fixture->loop, fixture->client, "a\n");
    TURN_UNTIL(fixture->loop, is_over(fixture));
    fixture_free(fixture);
}

static void test_output_is_flushed_after_half_close(void **state)
{
    struct fixture *fixture = serve_socket(SOCK_STREAM, 0);
    size_t received = 0;
    char piece[TURNING_PIECE];
    ssize_t count;

    (void)state;
    say(fixture, "fill 1048576\nfill 1048576\n");
    shutdown(fixture->client, SHUT_WR);
    while (!is_over(fixture)) {
        turn_once(fixture->loop);
        while ((count = recv(fixture->client, piece, sizeof(piece), 0)) > 0)
            received += (size_t)count;
    }
    assert_int_equal(received, 2 * (FLOOD_BYTES + 1));
    fixture_free(fixture);
}

static void test_a_client_that_closes_takes_its_calls_with_it(void **state)
{
    struct fixture *fixture = serve_socket(SOCK_STREAM, 0);

    (void)state;
    say(fixture, "call\n");
    TURN_UNTIL(fixture->loop, session_double.lines == 1);
    hang_up(fixture);
    TURN_UNTIL(fixture->loop, fixture->leavings == 1);
    assert_true(is_over(fixture));
    fixture_free(fixture);
    assert_int_equal(session_double.cancelled, 1);
}

static void test_one_that_closes_after_half_close_does_too(void **state)
{
    struct fixture *fixture = serve_socket(SOCK_STREAM, 0);
    ev_tstamp start;

    (void)state;
    say(fixture, "call\n");
    shutdown(fixture->client, SHUT_WR);
    TURN_UNTIL(fixture->loop, fixture->leavings == 1);
    turn_for(fixture->loop, 0.05);
    assert_false(is_over(fixture));
    hang_up(fixture);
    start = ev_time();
    TURN_UNTIL(fixture->loop, is_over(fixture));
    assert_true(ev_time() - start < 1);
    fixture_free(fixture);
    assert_int_equal(session_double.cancelled, 1);
}

/* Connected sockets; the second one is the client's. */
static void make_tcp_pair(int ends[2])
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(bind(listener, (struct sockaddr *)&address, length), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &length), 0);
    ends[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(ends[1], (struct sockaddr *)&address, length), 0);
    ends[0] = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    assert_true(ends[0] >= 0);
    close(listener);
}

static void test_a_tcp_client_that_closes_takes_its_calls_with_it(void **state)
{
    struct fixture *fixture = fixture_new();
    int ends[2];

    (void)state;
    make_tcp_pair(ends);
    fixture->client = ends[1];
    begin(fixture, ends[0], ends[0], 0);
    say(fixture, "call\n");
    TURN_UNTIL(fixture->loop, session_double.lines == 1);
    hang_up(fixture);
    TURN_UNTIL(fixture->loop, is_over(fixture));
    fixture_free(fixture);
    assert_int_equal(session_double.cancelled, 1);
}

static void test_a_tcp_client_that_half_closes_does_not(void **state)
{
    struct fixture *fixture = fixture_new();
    int ends[2];

    (void)state;
    make_tcp_pair(ends);
    fixture->client = ends[1];
    begin(fixture, ends[0], ends[0], 0);
    say(fixture, "call\n");
    shutdown(fixture->client, SHUT_WR);
    TURN_UNTIL(fixture->loop, fixture->leavings == 1);
    turn_for(fixture->loop, 0.25);
    assert_false(is_over(fixture));
    hang_up(fixture);
    TURN_UNTIL(fixture->loop, is_over(fixture));
    fixture_free(fixture);
    assert_int_equal(session_double.cancelled, 1);
}

static void test_a_reset_ends_everything(void **state)
{
    static const struct linger at_once = {.l_onoff = 1};
    struct fixture *fixture = fixture_new();
    int ends[2];

    (void)state;
    make_tcp_pair(ends);
    fixture->client = ends[1];
    begin(fixture, ends[0], ends[0], 0);
    say(fixture, "call\n");
    TURN_UNTIL(fixture->loop, session_double.lines == 1);
    assert_int_equal(setsockopt(fixture->client, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)),
                     0);
    hang_up(fixture);
    TURN_UNTIL(fixture->loop, is_over(fixture));
    fixture_free(fixture);
    assert_int_equal(session_double.cancelled, 1);
}

static void test_a_reset_after_half_close_ends_everything(void **state)
{
    static const struct linger at_once = {.l_onoff = 1};
    struct fixture *fixture = fixture_new();
    int ends[2];

    (void)state;
    make_tcp_pair(ends);
    fixture->client = ends[1];
    begin(fixture, ends[0], ends[0], 0);
    say(fixture, "call\n");
    shutdown(fixture->client, SHUT_WR);
    TURN_UNTIL(fixture->loop, fixture->leavings == 1);
    assert_false(is_over(fixture));
    assert_int_equal(setsockopt(fixture->client, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)),
                     0);
    hang_up(fixture);
    TURN_UNTIL(fixture->loop, is_over(fixture));
    fixture_free(fixture);
    assert_int_equal(session_double.cancelled, 1);
}

static void test_a_broken_pipe_is_noticed_when_something_is_sent(void **state)
{
    struct fixture *fixture = fixture_new();
    int in[2];
    int out[2];

    (void)state;
    assert_int_equal(pipe2(in, O_CLOEXEC | O_NONBLOCK), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC | O_NONBLOCK), 0);
    begin(fixture, in[0], out[1], 1);
    close(out[0]);
    assert_int_equal(write(in[1], "call\necho a\necho b\n", 19), 19);
    TURN_UNTIL(fixture->loop, fixture->leavings == 1);
    assert_true(is_over(fixture));
    assert_int_equal(session_double.lines, 2);
    close(in[1]);
    fixture_free(fixture);
    assert_int_equal(session_double.cancelled, 1);
}

/* The end in a hurry */

static void test_grace_lets_a_quick_call_be_answered(void **state)
{
    struct fixture *fixture = serve_socket(SOCK_STREAM, 5);

    (void)state;
    say(fixture, "call\n");
    shutdown(fixture->client, SHUT_WR);
    TURN_UNTIL(fixture->loop, fixture->leavings == 1);
    assert_false(is_over(fixture));
    session_double_answer("quick");
    assert_true(is_over(fixture));
    turn_until_received(fixture->loop, fixture->client, "quick\n");
    assert_int_equal(session_double.cancelled, 0);
    fixture_free(fixture);
}

static void test_after_the_grace_calls_are_cancelled(void **state)
{
    struct fixture *fixture = serve_socket(SOCK_STREAM, 0.2);
    ev_tstamp start = ev_time();

    (void)state;
    say(fixture, "call\n");
    shutdown(fixture->client, SHUT_WR);
    TURN_UNTIL(fixture->loop, is_over(fixture));
    assert_true(ev_time() - start >= 0.2);
    assert_int_equal(session_double.cancelled, 1);
    fixture_free(fixture);
}

static void test_in_a_hurry_untaken_output_is_not_waited_for_long(void **state)
{
    struct fixture *fixture = serve_socket(SOCK_STREAM, 0.1);
    ev_tstamp start = ev_time();

    (void)state;
    fixture->limits.unsent_bytes = 8 * FLOOD_BYTES;
    ev_timer_stop(fixture->loop, &fixture->stream.stall);
    ev_timer_set(&fixture->stream.stall, 0, 60);
    say(fixture, "fill 1048576\n");
    shutdown(fixture->client, SHUT_WR);
    TURN_UNTIL(fixture->loop, is_over(fixture));
    assert_true(ev_time() - start < 2);
    fixture_free(fixture);
}

static void test_stop_cancels_and_flushes(void **state)
{
    struct fixture *fixture = serve_socket(SOCK_STREAM, 0);
    char nothing[1];
    size_t length = 0;

    (void)state;
    say(fixture, "call\nfill 1048576\n");
    TURN_UNTIL(fixture->loop, session_double.lines == 2);
    say(fixture, "echo never read\n");
    stream_stop(&fixture->stream);
    assert_int_equal(session_double.cancelled, 1);
    assert_int_equal(fixture->leavings, 1);
    assert_false(is_over(fixture));
    TURN_UNTIL(fixture->loop,
               is_over(fixture) || !turning_read(fixture->client, nothing, 1, &length));
    assert_true(is_over(fixture));
    assert_int_equal(buffer_length(&fixture->stream.unsent), 0);
    assert_int_equal(session_double.lines, 2);
    fixture_free(fixture);
}

static void test_stop_does_not_wait_for_a_client_that_takes_nothing(void **state)
{
    struct fixture *fixture = serve_socket(SOCK_STREAM, 0);
    ev_tstamp start;

    (void)state;
    ev_timer_set(&fixture->stream.stall, 0, 60);
    say(fixture, "fill 1048576\n");
    TURN_UNTIL(fixture->loop, session_double.lines == 1);
    start = ev_time();
    stream_stop(&fixture->stream);
    TURN_UNTIL(fixture->loop, is_over(fixture));
    assert_true(ev_time() - start < 2);
    fixture_free(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_are_served_in_order),
        cmocka_unit_test(test_a_stream_that_cannot_be_watched_is_closed),
        cmocka_unit_test(test_a_message_is_one_write),
        cmocka_unit_test(test_every_split_of_two_messages),
        cmocka_unit_test(test_nul_bytes_reach_the_session),
        cmocka_unit_test(test_a_line_beyond_the_limit_is_refused_and_the_next_served),
        cmocka_unit_test(test_bytes_that_were_read_before_come_first),
        cmocka_unit_test(test_pipes_are_served_too),
        cmocka_unit_test(test_a_regular_file_is_served_to_its_end),
        cmocka_unit_test(test_the_last_line_may_fill_the_output),
        cmocka_unit_test(test_untaken_output_stops_reading_until_it_is_taken),
        cmocka_unit_test(test_a_client_that_takes_nothing_is_closed),
        cmocka_unit_test(test_a_client_that_takes_a_little_is_not),
        cmocka_unit_test(test_answers_beyond_all_limits_close_the_client),
        cmocka_unit_test(test_half_close_lets_calls_finish),
        cmocka_unit_test(test_the_last_line_needs_no_newline),
        cmocka_unit_test(test_output_is_flushed_after_half_close),
        cmocka_unit_test(test_a_client_that_closes_takes_its_calls_with_it),
        cmocka_unit_test(test_one_that_closes_after_half_close_does_too),
        cmocka_unit_test(test_a_tcp_client_that_closes_takes_its_calls_with_it),
        cmocka_unit_test(test_a_tcp_client_that_half_closes_does_not),
        cmocka_unit_test(test_a_reset_ends_everything),
        cmocka_unit_test(test_a_reset_after_half_close_ends_everything),
        cmocka_unit_test(test_a_broken_pipe_is_noticed_when_something_is_sent),
        cmocka_unit_test(test_grace_lets_a_quick_call_be_answered),
        cmocka_unit_test(test_after_the_grace_calls_are_cancelled),
        cmocka_unit_test(test_in_a_hurry_untaken_output_is_not_waited_for_long),
        cmocka_unit_test(test_stop_cancels_and_flushes),
        cmocka_unit_test(test_stop_does_not_wait_for_a_client_that_takes_nothing),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
