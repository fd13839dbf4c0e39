#include "environments/docker/direct_streams.h"

#include "base/descriptors.h"
#include "base/list.h"
#include "base/memory.h"
#include "tests/unit/environments/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define OTHER "pyexecd wire 0\n"

enum { TURNS = 8, OUTPUTS = 2, GIVEN = OUTPUTS + 1, MANY = 1000, MUCH = 1 << 20 };

/* What an owner hears. */
struct hearing {
    struct direct_streams streams;
    char heard[FRAME_STREAMS][64];
    char said[64];
};

static char *folder;
static char *path;
static struct hearing one;
/* What an init has, -1 without. */
static int connection;
static int outputs[OUTPUTS];
static int pieces; /* that have been read from an output that is never empty */

static void note(struct direct_streams *streams, enum frame_stream stream, const char *data,
                 size_t length)
{
    struct hearing *hearing = CONTAINER_OF(streams, struct hearing, streams);

    strncat(hearing->heard[stream], data, length);
}

static void note_said(struct direct_streams *streams, const char *data, size_t length)
{
    strncat(CONTAINER_OF(streams, struct hearing, streams)->said, data, length);
}

static void prepare(struct hearing *hearing)
{
    *hearing = (struct hearing){.streams = {.output = note, .said = note_said}};
    direct_streams_init(&hearing->streams, EV_DEFAULT);
}

static int set_up(void **state)
{
    struct error err = ERROR_INIT;

    (void)state;
    folder = scratch_new();
    path = memory_format("%s/a-name.sock", folder);
    prepare(&one);
    connection = outputs[0] = outputs[1] = -1;
    return direct_streams_offer(&one.streams, path, &err);
}

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* The init ends. */
static void close_all(void)
{
    close_one(&connection);
    close_one(&outputs[0]);
    close_one(&outputs[1]);
}

static int tear_down(void **state)
{
    (void)state;
    close_all();
    direct_streams_end(&one.streams);
    assert_int_equal(count_entries(folder), 0);
    free(path);
    scratch_free(folder);
    return 0;
}

static void turn(void)
{
    for (int i = 0; i < TURNS; i++)
        ev_run(EV_DEFAULT, EVRUN_NOWAIT);
}

static int connect_there(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

/* Connects as an init that says HELLO. The number of outputs that it gets. */
static size_t ask(const char *hello)
{
    size_t count = 0;
    char byte;

    connection = connect_there();
    assert_true(connection >= 0);
    assert_int_equal(send(connection, hello, WIRE_HELLO_BYTES, 0), WIRE_HELLO_BYTES);
    turn();
    if (descriptors_receive(connection, &byte, 1, 0, outputs, OUTPUTS, &count) != 1)
        return 0;
    return count;
}

static void write_both(void)
{
    assert_int_equal(write(outputs[0], "out", 3), 3);
    assert_int_equal(write(outputs[1], "err", 3), 3);
}

static void expect_both_heard(void)
{
    assert_string_equal(one.heard[FRAME_STDOUT], "out");
    assert_string_equal(one.heard[FRAME_STDERR], "err");
}

static void test_an_init_gets_both_outputs(void **state)
{
    (void)state;
    assert_int_equal(ask(WIRE_HELLO), OUTPUTS);
    write_both();
    turn();
    expect_both_heard();
    assert_string_equal(one.said, WIRE_HELLO);
}

static void note_order(struct direct_streams *streams, const char *data, size_t length)
{
    struct hearing *hearing = CONTAINER_OF(streams, struct hearing, streams);

    note(streams, FRAME_STDOUT, data, length);
    note_said(streams, data, length);
    assert_string_equal(hearing->heard[FRAME_STDERR], "err");
}

static void test_what_was_printed_comes_before_what_is_said_then(void **state)
{
    (void)state;
    assert_int_equal(ask(WIRE_HELLO), OUTPUTS);
    one.streams.said = note_order;
    write_both();
    assert_int_equal(send(connection, "end", 3, 0), 3);
    turn();
    assert_string_equal(one.heard[FRAME_STDOUT], "outend");
}

static void test_a_plain_one_has_the_wire_only(void **state)
{
    (void)state;
    one.streams.is_plain = true;
    assert_int_equal(ask(WIRE_HELLO), 0);
    assert_true(direct_streams_are_plain(&one.streams));
    assert_int_equal(send(connection, "end", 3, 0), 3);
    turn();
    assert_string_equal(one.said, WIRE_HELLO "end");
}

static void test_an_offer_is_withdrawn_unless_it_was_taken(void **state)
{
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(ask(WIRE_HELLO), OUTPUTS);
    direct_streams_withdraw(&one.streams);
    assert_true(direct_streams_are_ready(&one.streams));
    direct_streams_end(&one.streams);
    assert_int_equal(direct_streams_offer(&one.streams, path, &err), 0);
    direct_streams_withdraw(&one.streams);
    assert_int_equal(connect_there(), -1);
}

static void test_nobody_else_gets_any(void **state)
{
    (void)state;
    assert_int_equal(ask(OTHER), 0);
    assert_false(direct_streams_are_ready(&one.streams));
    assert_int_equal(access(path, F_OK), -1);
}

static void test_a_second_one_comes_too_late(void **state)
{
    (void)state;
    assert_int_equal(ask(WIRE_HELLO), OUTPUTS);
    assert_int_equal(connect_there(), -1);
    assert_int_equal(access(path, F_OK), -1);
}

static void test_one_that_says_nothing_holds_nobody_up(void **state)
{
    char byte;

    (void)state;
    connection = connect_there();
    turn();
    assert_false(direct_streams_are_ready(&one.streams));
    direct_streams_withdraw(&one.streams);
    assert_false(direct_streams_are_ready(&one.streams));
    assert_int_equal(recv(connection, &byte, 1, MSG_DONTWAIT),
                     0); /* it keeps those of the engine */
}

static void test_an_init_is_told_and_heard(void **state)
{
    struct error err = ERROR_INIT;
    char told[8];

    (void)state;
    assert_int_equal(ask(WIRE_HELLO), OUTPUTS);
    assert_true(direct_streams_are_ready(&one.streams));
    assert_int_equal(direct_streams_tell(&one.streams, "go", 2, &err), 0);
    assert_int_equal(recv(connection, told, sizeof told, 0), 2);
    assert_int_equal(recv(connection, told, sizeof told, MSG_DONTWAIT), -1); /* it stays open */
    assert_int_equal(write(outputs[0], "out", 3), 3);
    assert_int_equal(send(connection, "begun", 5, 0), 5);
    turn();
    assert_string_equal(one.heard[FRAME_STDOUT], "out");
    assert_string_equal(one.said, WIRE_HELLO "begun");
}

/* Whether FD, which is closed, is an end of TOOLS, a socket pair. */
static void expect_end_of_tools(int fd, const int tools[2])
{
    char byte;

    assert_int_equal(send(fd, "x", 1, MSG_NOSIGNAL), 1);
    assert_int_equal(recv(tools[0], &byte, 1, MSG_DONTWAIT), 1);
    close(fd);
}

static void close_tools(const int tools[2])
{
    close(tools[0]);
    close(tools[1]);
}

static void test_tools_come_with_the_pipes(void **state)
{
    int given[GIVEN];
    size_t count = 0;
    int tools[2];
    char byte;

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, tools), 0);
    direct_streams_give_tools(&one.streams, tools[1]);
    connection = connect_there();
    assert_int_equal(send(connection, WIRE_HELLO, WIRE_HELLO_BYTES, 0), WIRE_HELLO_BYTES);
    turn();
    assert_int_equal(descriptors_receive(connection, &byte, 1, 0, given, GIVEN, &count), 1);
    assert_int_equal(count, GIVEN);
    memcpy(outputs, given, sizeof outputs);
    expect_end_of_tools(given[OUTPUTS], tools);
    close_tools(tools);
}

static void test_tools_that_come_later_are_beside_the_next_words(void **state)
{
    struct error err = ERROR_INIT;
    size_t count = 0;
    char told[8];
    int tools[2];
    int given;

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, tools), 0);
    assert_int_equal(ask(WIRE_HELLO), OUTPUTS);
    direct_streams_give_tools(&one.streams, tools[1]);
    assert_int_equal(direct_streams_tell(&one.streams, "go", 2, &err), 0);
    assert_int_equal(descriptors_receive(connection, told, sizeof told, 0, &given, 1, &count), 2);
    assert_int_equal(count, 1);
    expect_end_of_tools(given, tools);
    assert_int_equal(direct_streams_tell(&one.streams, "more", 4, &err), 0);
    assert_int_equal(descriptors_receive(connection, told, sizeof told, 0, &given, 1, &count), 4);
    assert_int_equal(count, 0);
    close_tools(tools);
}

static void test_tools_that_nobody_has_taken_are_closed(void **state)
{
    int tools[2];
    char byte;

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, tools), 0);
    direct_streams_give_tools(&one.streams, tools[1]);
    close(tools[1]);
    direct_streams_end(&one.streams);
    assert_int_equal(recv(tools[0], &byte, 1, MSG_DONTWAIT), 0);
    close(tools[0]);
}

static void test_an_init_that_does_not_read_is_told_later(void **state)
{
    struct error err = ERROR_INIT;
    char *words = memory_new(1, MUCH);
    size_t read = 0;

    (void)state;
    assert_int_equal(ask(WIRE_HELLO), OUTPUTS);
    assert_int_equal(direct_streams_tell(&one.streams, words, MUCH, &err), 0);
    while (read < MUCH) {
        ssize_t count = recv(connection, words, MUCH, MSG_DONTWAIT);

        if (count > 0)
            read += (size_t)count;
        turn();
    }
    for (int i = 0; i < 8; i++)
        assert_int_equal(direct_streams_tell(&one.streams, words, MUCH, &err), 0);
    assert_int_equal(direct_streams_tell(&one.streams, words, MUCH, &err), -1);
    assert_int_equal(err.code, ERROR_LIMIT);
    free(words);
}

static void test_an_init_that_has_gone_is_not_told(void **state)
{
    (void)state;
    assert_int_equal(ask(WIRE_HELLO), OUTPUTS);
    close_all();
    turn();
    assert_false(direct_streams_are_ready(&one.streams));
}

static void test_the_rest_is_read_when_the_container_has_ended(void **state)
{
    (void)state;
    assert_int_equal(ask(WIRE_HELLO), OUTPUTS);
    write_both();
    assert_int_equal(send(connection, "end", 3, 0), 3);
    close_all();
    direct_streams_read_rest(&one.streams);
    expect_both_heard();
    assert_string_equal(one.said, WIRE_HELLO "end");
}

/* Writes on as fast as it is read, for MANY pieces. */
static void note_endless(struct direct_streams *streams, enum frame_stream stream, const char *data,
                         size_t length)
{
    (void)streams;
    (void)stream;
    if (++pieces < MANY)
        assert_int_equal(write(outputs[0], data, length), length);
}

static void test_the_rest_is_read_to_an_end_though_more_comes(void **state)
{
    (void)state;
    assert_int_equal(ask(WIRE_HELLO), OUTPUTS);
    one.streams.output = note_endless;
    assert_int_equal(write(outputs[0], "out", 3), 3);
    direct_streams_read_rest(&one.streams);
    assert_in_range(pieces, 1, MANY - 1);
}

static void test_what_is_not_taken_leaves_nothing(void **state)
{
    (void)state;
    assert_int_equal(access(direct_streams_path(&one.streams), F_OK), 0);
    direct_streams_end(&one.streams);
    assert_null(direct_streams_path(&one.streams));
    assert_int_equal(access(path, F_OK), -1);
}

#define DIRECT_STREAMS_TEST(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DIRECT_STREAMS_TEST(test_an_init_gets_both_outputs),
        DIRECT_STREAMS_TEST(test_what_was_printed_comes_before_what_is_said_then),
        DIRECT_STREAMS_TEST(test_a_plain_one_has_the_wire_only),
        DIRECT_STREAMS_TEST(test_an_offer_is_withdrawn_unless_it_was_taken),
        DIRECT_STREAMS_TEST(test_nobody_else_gets_any),
        DIRECT_STREAMS_TEST(test_a_second_one_comes_too_late),
        DIRECT_STREAMS_TEST(test_one_that_says_nothing_holds_nobody_up),
        DIRECT_STREAMS_TEST(test_an_init_is_told_and_heard),
        DIRECT_STREAMS_TEST(test_tools_come_with_the_pipes),
        DIRECT_STREAMS_TEST(test_tools_that_come_later_are_beside_the_next_words),
        DIRECT_STREAMS_TEST(test_tools_that_nobody_has_taken_are_closed),
        DIRECT_STREAMS_TEST(test_an_init_that_does_not_read_is_told_later),
        DIRECT_STREAMS_TEST(test_an_init_that_has_gone_is_not_told),
        DIRECT_STREAMS_TEST(test_the_rest_is_read_when_the_container_has_ended),
        DIRECT_STREAMS_TEST(test_the_rest_is_read_to_an_end_though_more_comes),
        DIRECT_STREAMS_TEST(test_what_is_not_taken_leaves_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
