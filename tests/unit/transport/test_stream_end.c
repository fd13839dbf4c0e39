/* How streams end: clients that go, the grace for what is left, and stops. */
#include "server/transport/stream.h"

#include "tests/unit/transport/session_double.h"
#include "tests/unit/transport/stream_peer.h"
#include "tests/unit/transport/turning.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

/* Clients that go */

static void test_half_close_lets_calls_finish(void **state)
{
    struct stream_peer *peer = stream_peer_serve(SOCK_STREAM, 0);
    char text[32];

    (void)state;
    stream_peer_say(peer, "call\necho a\n");
    shutdown(peer->client, SHUT_WR);
    TURN_UNTIL(peer->loop, peer->leavings == 1);
    turn_for(peer->loop, 0.2);
    assert_false(stream_peer_is_over(peer));
    session_double_answer("late");
    TURN_UNTIL(peer->loop, stream_peer_is_over(peer));
    stream_deinit(&peer->stream);
    peer->is_open = false;
    turn_until_closed(peer->loop, peer->client, text, sizeof(text));
    assert_string_equal(text, "a\nlate\n");
    assert_int_equal(session_double.cancelled, 0);
    stream_peer_free(peer);
}

static void test_the_last_line_needs_no_newline(void **state)
{
    struct stream_peer *peer = stream_peer_serve(SOCK_STREAM, 0);

    (void)state;
    stream_peer_say(peer, "echo a");
    shutdown(peer->client, SHUT_WR);
    turn_until_received(peer->loop, peer->client, "a\n");
    TURN_UNTIL(peer->loop, stream_peer_is_over(peer));
    stream_peer_free(peer);
}

static void test_output_is_flushed_after_half_close(void **state)
{
    struct stream_peer *peer = stream_peer_serve(SOCK_STREAM, 0);
    size_t received = 0;
    char piece[TURNING_PIECE];
    ssize_t count;

    (void)state;
    stream_peer_say(peer, "fill 1048576\nfill 1048576\n");
    shutdown(peer->client, SHUT_WR);
    while (!stream_peer_is_over(peer)) {
        turn_once(peer->loop);
        while ((count = recv(peer->client, piece, sizeof(piece), 0)) > 0)
            received += (size_t)count;
    }
    assert_int_equal(received, 2 * (STREAM_PEER_FLOOD_BYTES + 1));
    stream_peer_free(peer);
}

static void say_call(struct stream_peer *peer)
{
    stream_peer_say(peer, "call\n");
    TURN_UNTIL(peer->loop, session_double.lines == 1);
}

static void say_call_and_half_close(struct stream_peer *peer)
{
    stream_peer_say(peer, "call\n");
    shutdown(peer->client, SHUT_WR);
    TURN_UNTIL(peer->loop, peer->leavings == 1);
}

/* Its call goes with it. */
static void hang_up(struct stream_peer *peer)
{
    stream_peer_hang_up(peer);
    TURN_UNTIL(peer->loop, stream_peer_is_over(peer));
    stream_peer_free(peer);
    assert_int_equal(session_double.cancelled, 1);
}

static void test_a_client_that_closes_takes_its_calls_with_it(void **state)
{
    struct stream_peer *peer = stream_peer_serve(SOCK_STREAM, 0);

    (void)state;
    say_call(peer);
    stream_peer_hang_up(peer);
    TURN_UNTIL(peer->loop, peer->leavings == 1);
    assert_true(stream_peer_is_over(peer));
    stream_peer_free(peer);
    assert_int_equal(session_double.cancelled, 1);
}

static void test_one_that_closes_after_half_close_does_too(void **state)
{
    struct stream_peer *peer = stream_peer_serve(SOCK_STREAM, 0);
    ev_tstamp start;

    (void)state;
    say_call_and_half_close(peer);
    turn_for(peer->loop, 0.05);
    assert_false(stream_peer_is_over(peer));
    start = ev_time();
    hang_up(peer);
    assert_true(ev_time() - start < 1);
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

static struct stream_peer *serve_over_tcp(void)
{
    struct stream_peer *peer = stream_peer_new();
    int ends[2];

    make_tcp_pair(ends);
    peer->client = ends[1];
    stream_peer_begin(peer, ends[0], ends[0], 0);
    return peer;
}

static void close_by_reset(const struct stream_peer *peer)
{
    static const struct linger at_once = {.l_onoff = 1};

    assert_int_equal(setsockopt(peer->client, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)), 0);
}

static void test_a_tcp_client_that_closes_takes_its_calls_with_it(void **state)
{
    struct stream_peer *peer = serve_over_tcp();

    (void)state;
    say_call(peer);
    hang_up(peer);
}

static void test_a_tcp_client_that_half_closes_does_not(void **state)
{
    struct stream_peer *peer = serve_over_tcp();

    (void)state;
    say_call_and_half_close(peer);
    turn_for(peer->loop, 0.25);
    assert_false(stream_peer_is_over(peer));
    hang_up(peer);
}

static void test_a_reset_ends_everything(void **state)
{
    struct stream_peer *peer = serve_over_tcp();

    (void)state;
    say_call(peer);
    close_by_reset(peer);
    hang_up(peer);
}

static void test_a_reset_after_half_close_ends_everything(void **state)
{
    struct stream_peer *peer = serve_over_tcp();

    (void)state;
    say_call_and_half_close(peer);
    assert_false(stream_peer_is_over(peer));
    close_by_reset(peer);
    hang_up(peer);
}

static void test_a_broken_pipe_is_noticed_when_something_is_sent(void **state)
{
    struct stream_peer *peer = stream_peer_new();
    int in[2];
    int out[2];

    (void)state;
    assert_int_equal(pipe2(in, O_CLOEXEC | O_NONBLOCK), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC | O_NONBLOCK), 0);
    stream_peer_begin(peer, in[0], out[1], 1);
    close(out[0]);
    assert_int_equal(write(in[1], "call\necho a\necho b\n", 19), 19);
    TURN_UNTIL(peer->loop, peer->leavings == 1);
    assert_true(stream_peer_is_over(peer));
    assert_int_equal(session_double.lines, 2);
    close(in[1]);
    stream_peer_free(peer);
    assert_int_equal(session_double.cancelled, 1);
}

/* The end in a hurry */

static void test_grace_lets_a_quick_call_be_answered(void **state)
{
    struct stream_peer *peer = stream_peer_serve(SOCK_STREAM, 5);

    (void)state;
    stream_peer_say(peer, "call\n");
    shutdown(peer->client, SHUT_WR);
    TURN_UNTIL(peer->loop, peer->leavings == 1);
    assert_false(stream_peer_is_over(peer));
    session_double_answer("quick");
    assert_true(stream_peer_is_over(peer));
    turn_until_received(peer->loop, peer->client, "quick\n");
    assert_int_equal(session_double.cancelled, 0);
    stream_peer_free(peer);
}

static void test_after_the_grace_calls_are_cancelled(void **state)
{
    struct stream_peer *peer = stream_peer_serve(SOCK_STREAM, 0.2);
    ev_tstamp start = ev_time();

    (void)state;
    stream_peer_say(peer, "call\n");
    shutdown(peer->client, SHUT_WR);
    TURN_UNTIL(peer->loop, stream_peer_is_over(peer));
    assert_true(ev_time() - start >= 0.2);
    assert_int_equal(session_double.cancelled, 1);
    stream_peer_free(peer);
}

static void test_in_a_hurry_untaken_output_is_not_waited_for_long(void **state)
{
    struct stream_peer *peer = stream_peer_serve(SOCK_STREAM, 0.1);
    ev_tstamp start = ev_time();

    (void)state;
    peer->limits.unsent_bytes = 8 * STREAM_PEER_FLOOD_BYTES;
    ev_timer_stop(peer->loop, &peer->stream.stall);
    ev_timer_set(&peer->stream.stall, 0, 60);
    stream_peer_say(peer, "fill 1048576\n");
    shutdown(peer->client, SHUT_WR);
    TURN_UNTIL(peer->loop, stream_peer_is_over(peer));
    assert_true(ev_time() - start < 2);
    stream_peer_free(peer);
}

static void test_stop_cancels_and_flushes(void **state)
{
    struct stream_peer *peer = stream_peer_serve(SOCK_STREAM, 0);
    char nothing[1];
    size_t length = 0;

    (void)state;
    stream_peer_say(peer, "call\nfill 1048576\n");
    TURN_UNTIL(peer->loop, session_double.lines == 2);
    stream_peer_say(peer, "echo never read\n");
    stream_stop(&peer->stream);
    assert_int_equal(session_double.cancelled, 1);
    assert_int_equal(peer->leavings, 1);
    assert_false(stream_peer_is_over(peer));
    TURN_UNTIL(peer->loop,
               stream_peer_is_over(peer) || !turning_read(peer->client, nothing, 1, &length));
    assert_true(stream_peer_is_over(peer));
    assert_int_equal(buffer_length(&peer->stream.unsent), 0);
    assert_int_equal(session_double.lines, 2);
    stream_peer_free(peer);
}

static void test_stop_does_not_wait_for_a_client_that_takes_nothing(void **state)
{
    struct stream_peer *peer = stream_peer_serve(SOCK_STREAM, 0);
    ev_tstamp start;

    (void)state;
    ev_timer_set(&peer->stream.stall, 0, 60);
    stream_peer_say(peer, "fill 1048576\n");
    TURN_UNTIL(peer->loop, session_double.lines == 1);
    start = ev_time();
    stream_stop(&peer->stream);
    TURN_UNTIL(peer->loop, stream_peer_is_over(peer));
    assert_true(ev_time() - start < 2);
    stream_peer_free(peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
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
