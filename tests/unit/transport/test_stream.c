#include "server/transport/stream.h"

#include "base/memory.h"
#include "tests/unit/transport/session_double.h"
#include "tests/unit/transport/stream_peer.h"
#include "tests/unit/transport/turning.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

static void test_lines_are_served_in_order(void **state)
{
    struct stream_peer *peer = stream_peer_serve(SOCK_STREAM, 0);

    (void)state;
    stream_peer_say(peer, "echo a\necho b\r\n\necho c\n");
    turn_until_received(peer->loop, peer->client, "a\nb\nc\n");
    assert_int_equal(session_double.lines, 3);
    assert_string_equal(session_double.principal, "uid:1");
    stream_peer_free(peer);
}

static void test_a_message_is_one_write(void **state)
{
    struct stream_peer *peer = stream_peer_serve(SOCK_SEQPACKET, 0); /* keeps writes apart */
    char packet[16];

    (void)state;
    stream_peer_say(peer, "echo a\necho b\n");
    TURN_UNTIL(peer->loop, session_double.lines == 2);
    assert_int_equal(recv(peer->client, packet, sizeof(packet), 0), 2);
    assert_memory_equal(packet, "a\n", 2);
    assert_int_equal(recv(peer->client, packet, sizeof(packet), 0), 2);
    assert_memory_equal(packet, "b\n", 2);
    stream_peer_free(peer);
}

static void test_every_split_of_two_messages(void **state)
{
    static const char input[] = "echo one\r\necho two\n";

    (void)state;
    for (size_t split = 1; split < sizeof(input) - 1; split++) {
        struct stream_peer *peer = stream_peer_serve(SOCK_STREAM, 0);
        char first[sizeof(input)] = "";

        memcpy(first, input, split);
        stream_peer_say(peer, first);
        turn_once(peer->loop);
        stream_peer_say(peer, input + split);
        turn_until_received(peer->loop, peer->client, "one\ntwo\n");
        stream_peer_free(peer);
    }
}

static void test_nul_bytes_reach_the_session(void **state)
{
    struct stream_peer *peer = stream_peer_serve(SOCK_STREAM, 0);

    (void)state;
    assert_int_equal(write(peer->client, "a\0b\n", 4), 4);
    TURN_UNTIL(peer->loop, session_double.lines == 1);
    assert_int_equal(session_double.last_length, 3);
    assert_memory_equal(session_double.last_line, "a\0b", 3);
    stream_peer_free(peer);
}

static void test_a_line_beyond_the_limit_is_refused_and_the_next_served(void **state)
{
    struct stream_peer *peer = stream_peer_serve(SOCK_STREAM, 0);
    char line[3 * STREAM_PEER_LINE_BYTES + 2] = "";

    (void)state;
    memset(line, 'x', sizeof(line) - 2);
    line[sizeof(line) - 2] = '\n';
    stream_peer_say(peer, line);
    stream_peer_say(peer, "echo next\n");
    turn_until_received(peer->loop, peer->client, "longer than 100\nnext\n");
    assert_int_equal(session_double.refused, 1);
    stream_peer_free(peer);
}

static void test_bytes_that_were_read_before_come_first(void **state)
{
    struct stream_peer *peer = stream_peer_serve(SOCK_STREAM, 0);

    (void)state;
    stream_receive(&peer->stream, "echo a\necho", 11);
    stream_peer_say(peer, " b\n");
    turn_until_received(peer->loop, peer->client, "a\nb\n");
    stream_peer_free(peer);
}

static void test_pipes_are_served_too(void **state)
{
    struct stream_peer *peer = stream_peer_new();
    char text[8] = "";
    int in[2];
    int out[2];

    (void)state;
    assert_int_equal(pipe2(in, O_CLOEXEC | O_NONBLOCK), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC | O_NONBLOCK), 0);
    stream_peer_begin(peer, in[0], out[1], 0);
    assert_int_equal(write(in[1], "echo a\n", 7), 7);
    TURN_UNTIL(peer->loop, session_double.lines == 1);
    assert_int_equal(read(out[0], text, sizeof(text)), 2);
    assert_string_equal(text, "a\n");
    close(in[1]);
    TURN_UNTIL(peer->loop, stream_peer_is_over(peer));
    close(out[0]);
    stream_peer_free(peer);
}

/* epoll refuses regular files. */
static void test_a_regular_file_is_served_to_its_end(void **state)
{
    struct stream_peer *peer = stream_peer_new();
    char text[8] = "";
    FILE *input = tmpfile();
    int out[2];

    (void)state;
    fputs("echo a\necho b\n", input);
    rewind(input);
    assert_int_equal(pipe2(out, O_CLOEXEC | O_NONBLOCK), 0);
    stream_peer_begin(peer, dup(fileno(input)), out[1], 1);
    TURN_UNTIL(peer->loop, stream_peer_is_over(peer));
    assert_int_equal(read(out[0], text, sizeof(text)), 4);
    assert_string_equal(text, "a\nb\n");
    fclose(input);
    close(out[0]);
    stream_peer_free(peer);
}

static void test_the_last_line_may_fill_the_output(void **state)
{
    struct stream_peer *peer = stream_peer_serve(SOCK_STREAM, 0);
    char text[1];

    (void)state;
    stream_peer_say(peer, "fill 1048576");
    shutdown(peer->client, SHUT_WR);
    TURN_UNTIL(peer->loop, session_double.lines == 1);
    for (size_t length = 0; !stream_peer_is_over(peer); turn_once(peer->loop))
        turning_read(peer->client, text, sizeof(text), &length);
    stream_peer_free(peer);
}

static void test_a_stream_that_cannot_be_watched_is_closed(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct stream_peer *peer = stream_peer_serve(SOCK_STREAM, 0);

        turn_with_failure(peer->loop, i == 0 ? &peer->stream.readable : &peer->stream.writable);
        assert_int_equal(peer->stream.state, STREAM_CLOSED);
        stream_peer_free(peer);
    }
}

/* Clients that do not read */

static void test_untaken_output_stops_reading_until_it_is_taken(void **state)
{
    struct stream_peer *peer = stream_peer_serve(SOCK_STREAM, 0);
    char newlines[TURNING_PIECE];
    char text[1];
    size_t length = 0;

    (void)state;
    memset(newlines, '\n', sizeof(newlines));
    stream_peer_say(peer, "fill 1048576\necho held back\n");
    TURN_UNTIL(peer->loop, session_double.lines == 1);
    stream_peer_say(peer, "echo not even read\n");
    for (int i = 0; i < 5; turn_once(peer->loop), i++)
        while (send(peer->client, newlines, sizeof(newlines), MSG_DONTWAIT) > 0)
            ;
    assert_int_equal(session_double.lines, 1);
    assert_true(session_double.session->peer.slow);
    TURN_UNTIL(peer->loop,
               turning_read(peer->client, text, 1, &length) && session_double.lines == 3);
    assert_false(session_double.session->peer.slow);
    turn_until_received(peer->loop, peer->client, "");
    stream_peer_free(peer);
}

static void test_there_is_room_for_more_while_all_is_taken(void **state)
{
    struct stream_peer *peer = stream_peer_serve(SOCK_STREAM, 0);
    const struct sink *sink = &peer->stream.sink;
    char text[1];
    size_t length = 0;

    (void)state;
    assert_true(sink_has_room(sink));
    stream_peer_say(peer, "fill 1048576\n");
    TURN_UNTIL(peer->loop, session_double.lines == 1);
    assert_false(sink_has_room(sink));
    TURN_UNTIL(peer->loop, turning_read(peer->client, text, 1, &length) &&
                               buffer_length(&peer->stream.unsent) == 0);
    assert_true(sink_has_room(sink));
    peer->stream.sink.answers_only = true;
    assert_false(sink_has_room(sink));
    stream_peer_free(peer);
}

static void test_a_client_that_takes_nothing_is_closed(void **state)
{
    struct stream_peer *peer = stream_peer_serve(SOCK_STREAM, 0);
    ev_tstamp start;

    (void)state;
    stream_peer_say(peer, "call\nfill 1048576\n");
    TURN_UNTIL(peer->loop, session_double.lines == 2);
    start = ev_time();
    TURN_UNTIL(peer->loop, stream_peer_is_over(peer));
    assert_true(ev_time() - start >= STREAM_PEER_STALL_SECONDS / 2);
    stream_deinit(&peer->stream);
    peer->is_open = false;
    assert_int_equal(session_double.cancelled, 1);
    stream_peer_free(peer);
}

static void test_a_client_that_takes_a_little_is_not(void **state)
{
    struct stream_peer *peer = stream_peer_serve(SOCK_STREAM, 0);
    char piece[32 * 1024];

    (void)state;
    stream_peer_say(peer, "fill 8388608\n");
    TURN_UNTIL(peer->loop, session_double.lines == 1);
    for (ev_tstamp end = ev_time() + 3 * STREAM_PEER_STALL_SECONDS; ev_time() < end;) {
        assert_true(recv(peer->client, piece, sizeof(piece), 0) > 0);
        turn_for(peer->loop, STREAM_PEER_STALL_SECONDS / 30);
    }
    assert_int_equal(peer->stream.state, STREAM_SERVING);
    assert_true(buffer_length(&peer->stream.unsent) > 0);
    stream_peer_free(peer);
}

static void test_answers_beyond_all_limits_close_the_client(void **state)
{
    struct stream_peer *peer = stream_peer_serve(SOCK_STREAM, 0);
    struct sink *sink = &peer->stream.sink;
    char *piece = memory_new(STREAM_PEER_FLOOD_BYTES, 1);

    (void)state;
    for (size_t sent = 0; sent <= (size_t)STREAM_OVERRUN_BYTES + STREAM_PEER_FLOOD_BYTES;
         sent += STREAM_PEER_FLOOD_BYTES)
        sink->send(sink, piece, STREAM_PEER_FLOOD_BYTES, true, 0);
    assert_int_equal(peer->stream.state, STREAM_CLOSED);
    assert_int_equal(peer->leavings, 1);
    sink->send(sink, piece, STREAM_PEER_FLOOD_BYTES, true, 0); /* goes nowhere */
    free(piece);
    stream_peer_free(peer);
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
        cmocka_unit_test(test_there_is_room_for_more_while_all_is_taken),
        cmocka_unit_test(test_a_client_that_takes_nothing_is_closed),
        cmocka_unit_test(test_a_client_that_takes_a_little_is_not),
        cmocka_unit_test(test_answers_beyond_all_limits_close_the_client),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
