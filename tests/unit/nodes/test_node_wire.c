/* Two ends of a wire, in one loop. */
#include "environments/nodes/node_wire.h"

#include "base/cleanup.h"
#include "base/list.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { LARGE_BYTES = 4 << 20, PIECE_BYTES = 20000 };

struct wire_end {
    struct node_wire wire;
    char last[64];    /* the data of the last frame */
    uint32_t channel; /* the same */
    size_t total;     /* bytes of NODE_OUT */
    const char *why;  /* NULL: it has not ended */
    char foreign[64];
};

static void wire_end_on_frame(struct node_wire *wire, enum node_frame type, uint32_t channel,
                              const char *data, size_t length)
{
    struct wire_end *end = CONTAINER_OF(wire, struct wire_end, wire);

    assert_int_equal(data[length], '\0');
    strncpy(end->last, data, sizeof end->last - 1);
    end->channel = channel;
    if (type == NODE_CREDIT)
        end->total = node_wire_take_credit(data);
    if (type == NODE_OUT)
        end->total += length;
}

static void wire_end_on_foreign(struct node_wire *wire, const char *data, size_t length)
{
    struct wire_end *end = CONTAINER_OF(wire, struct wire_end, wire);

    strncat(end->foreign, data, size_min(length, sizeof end->foreign - strlen(end->foreign) - 1));
}

static void wire_end_on_ended(struct node_wire *wire, const char *why)
{
    struct wire_end *end = CONTAINER_OF(wire, struct wire_end, wire);

    assert_null(end->why);
    end->why = why;
}

static void open_ends(struct wire_end *ours, struct wire_end *theirs)
{
    struct ev_loop *loop = ev_loop_new(EVBACKEND_POLL);
    int to[2];
    int from[2];

    assert_int_equal(pipe2(to, O_NONBLOCK), 0);
    assert_int_equal(pipe2(from, O_NONBLOCK), 0);
    *ours = (struct wire_end){.wire = {.loop = loop,
                                       .frame = wire_end_on_frame,
                                       .foreign = wire_end_on_foreign,
                                       .ended = wire_end_on_ended}};
    *theirs = *ours;
    theirs->wire.foreign = NULL;
    node_wire_open(&ours->wire, from[0], to[1]);
    node_wire_open(&theirs->wire, to[0], from[1]);
}

static void close_ends(struct wire_end *ours, struct wire_end *theirs)
{
    node_wire_close(&ours->wire);
    node_wire_close(&theirs->wire);
    ev_loop_destroy(ours->wire.loop);
}

static void turn(const struct wire_end *end)
{
    ev_run(end->wire.loop, EVRUN_NOWAIT);
}

static void test_a_frame_comes_as_it_was_sent(void **state)
{
    struct wire_end ours;
    struct wire_end theirs;

    (void)state;
    open_ends(&ours, &theirs);
    node_wire_greet(&ours.wire);
    node_wire_tell(&ours.wire, NODE_STEP, 9, json_pack("{s:s}", "text", "building"));
    turn(&theirs);
    assert_string_equal(theirs.last, "{\"text\":\"building\"}");
    assert_int_equal(theirs.channel, 9);
    node_wire_give_credit(&ours.wire, 2, 70000);
    turn(&theirs);
    assert_int_equal(theirs.total, 70000);
    assert_int_equal(theirs.channel, 2);
    close_ends(&ours, &theirs);
}

static void test_more_than_a_pipe_holds_comes_whole(void **state)
{
    struct wire_end ours;
    struct wire_end theirs;
    AUTO_FREE char *bytes = memory_new(PIECE_BYTES, 1);
    size_t sent = 0;

    (void)state;
    open_ends(&ours, &theirs);
    node_wire_greet(&ours.wire);
    for (; sent < LARGE_BYTES; sent += PIECE_BYTES)
        node_wire_send(&ours.wire, NODE_OUT, 1, bytes, PIECE_BYTES);
    while (theirs.total < sent)
        turn(&theirs);
    assert_int_equal(theirs.total, sent);
    assert_null(theirs.why);
    close_ends(&ours, &theirs);
}

static void test_the_end_is_told_behind_the_last_frame(void **state)
{
    struct wire_end ours;
    struct wire_end theirs;

    (void)state;
    open_ends(&ours, &theirs);
    node_wire_greet(&ours.wire);
    node_wire_send(&ours.wire, NODE_OUT, 1, "last", 4);
    node_wire_close(&ours.wire);
    turn(&theirs);
    assert_string_equal(theirs.last, "last");
    assert_null(theirs.why);
    turn(&theirs);
    turn(&theirs);
    assert_string_equal(theirs.why, "");
    close_ends(&ours, &theirs);
}

static void test_nonsense_ends_it_once(void **state)
{
    static const char nonsense[] = "\377\377\377\377\377\377\377\377";
    struct wire_end ours;
    struct wire_end theirs;

    (void)state;
    open_ends(&ours, &theirs);
    node_wire_greet(&ours.wire);
    node_wire_send(&ours.wire, NODE_BEGUN, 1, nonsense, sizeof nonsense); /* it has no bytes */
    turn(&theirs);
    turn(&theirs);
    assert_string_equal(theirs.why, "it says what is no frame");
    node_wire_send(&theirs.wire, NODE_OUT, 1, "unheard", 7);
    node_wire_fail(&theirs.wire, "again");
    turn(&theirs);
    close_ends(&ours, &theirs);
}

static void test_a_foreign_greeting_is_handed_over_or_ends_it(void **state)
{
    static const char greeting[] = "Welcome\n";
    struct wire_end ours;
    struct wire_end theirs;

    (void)state;
    open_ends(&ours, &theirs);
    assert_int_equal(write(theirs.wire.out, greeting, strlen(greeting)), strlen(greeting));
    assert_int_equal(write(ours.wire.out, greeting, strlen(greeting)), strlen(greeting));
    turn(&ours);
    turn(&ours);
    assert_string_equal(ours.foreign, greeting);
    assert_null(ours.why);
    assert_string_equal(theirs.why, "it does not speak as a server does");
    close_ends(&ours, &theirs);
}

static void test_bytes_that_have_come_are_taken_at_its_end(void **state)
{
    struct wire_end ours;
    struct wire_end theirs;

    (void)state;
    open_ends(&ours, &theirs);
    node_wire_greet(&ours.wire);
    node_wire_send(&ours.wire, NODE_OUT, 1, "last", 4);
    node_wire_close(&ours.wire);
    node_wire_drain(&theirs.wire);
    assert_string_equal(theirs.last, "last");
    assert_null(theirs.why);
    node_wire_drain(&theirs.wire);
    close_ends(&ours, &theirs);
}

static char last_byte_of(struct wire_end *ours, const struct wire_end *theirs, const char *data)
{
    char bytes[PIECE_BYTES];
    ssize_t count;

    node_wire_send(&ours->wire, NODE_OUT, 1, data, strlen(data));
    count = read(theirs->wire.in, bytes, sizeof bytes);
    assert_true(count > 0);
    return bytes[count - 1];
}

static void test_words_end_with_a_newline_where_the_carrier_needs_it(void **state)
{
    struct wire_end ours;
    struct wire_end theirs;

    (void)state;
    open_ends(&ours, &theirs);
    node_wire_greet(&ours.wire);
    assert_int_equal(last_byte_of(&ours, &theirs, "half a line"), 'e');
    ours.wire.ends_lines = true;
    assert_int_equal(last_byte_of(&ours, &theirs, "half a line"), '\n');
    assert_int_equal(last_byte_of(&ours, &theirs, ""), '\n');
    assert_int_equal(last_byte_of(&ours, &theirs, "a line\n"), '\n');
    close_ends(&ours, &theirs);
}

static void test_a_newline_is_no_word(void **state)
{
    struct wire_end ours;
    struct wire_end theirs;

    (void)state;
    open_ends(&ours, &theirs);
    ours.wire.ends_lines = true;
    node_wire_greet(&ours.wire);
    node_wire_send(&ours.wire, NODE_OUT, 3, "half", 4);
    turn(&theirs);
    turn(&theirs);
    assert_string_equal(theirs.last, "half");
    assert_int_equal(theirs.channel, 3);
    assert_int_equal(theirs.total, 4);
    assert_null(theirs.why);
    close_ends(&ours, &theirs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_frame_comes_as_it_was_sent),
        cmocka_unit_test(test_more_than_a_pipe_holds_comes_whole),
        cmocka_unit_test(test_the_end_is_told_behind_the_last_frame),
        cmocka_unit_test(test_nonsense_ends_it_once),
        cmocka_unit_test(test_a_foreign_greeting_is_handed_over_or_ends_it),
        cmocka_unit_test(test_bytes_that_have_come_are_taken_at_its_end),
        cmocka_unit_test(test_words_end_with_a_newline_where_the_carrier_needs_it),
        cmocka_unit_test(test_a_newline_is_no_word),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
