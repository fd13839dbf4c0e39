#include "environments/engine/init/cell_relay.h"

#include "base/memory.h"
#include "environments/engine/init/wire_end.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CELL "11\nprint(6*7)\n"

static struct wire_end wire;
static struct cell_relay relay;

static int cell_relay_set_up(void **state)
{
    (void)state;
    return cell_relay_open(&relay, &wire) ? 0 : -1;
}

static int cell_relay_tear_down(void **state)
{
    (void)state;
    close(relay.theirs);
    if (relay.channel >= 0)
        close(relay.channel);
    return 0;
}

/* What the program reads now. */
static const char *read_program(void)
{
    static char data[256];
    ssize_t count = recv(relay.theirs, data, sizeof data - 1, MSG_DONTWAIT);

    data[count > 0 ? count : 0] = '\0';
    return data;
}

static void take(const char *text, size_t size)
{
    size_t length = strlen(text);

    for (size_t i = 0; i < length; i += size) {
        cell_relay_take(&relay, text + i, length - i < size ? length - i : size);
        while (!cell_relay_is_empty(&relay))
            cell_relay_serve(&relay, 0);
    }
}

static void check_every_possible_split(void **state, const char *text)
{
    const size_t length = strlen(text);

    for (size_t size = 1; size <= length; size++) {
        take(text, size);
        assert_true(relay.is_busy && !relay.is_astray);
        assert_string_equal(read_program(), text);
        cell_relay_tear_down(state);
        assert_int_equal(cell_relay_set_up(state), 0);
    }
}

static void test_a_cell_goes_on_in_every_possible_split(void **state)
{
    check_every_possible_split(state, CELL);
}

static void test_a_line_that_tells_of_an_interrupt_goes_before_a_cell(void **state)
{
    take("interrupted\n", 100);
    assert_false(relay.is_busy || relay.is_astray);
    assert_string_equal(read_program(), "interrupted\n");
    check_every_possible_split(state, "interrupted\n" CELL);
}

static void test_an_answer_to_a_line_makes_no_sense(void **state)
{
    (void)state;
    take("interrupted\n", 100);
    assert_int_equal(send(relay.theirs, "", 1, MSG_NOSIGNAL), 1);
    cell_relay_serve(&relay, 0);
    assert_true(relay.is_astray);
}

static void test_what_is_no_cell_makes_no_sense(void **state)
{
    static const char *const cases[] = {
        "x\n",
        "-1\n",
        "1234567890123456789012345678901234567890",
        "1\nab", /* more than it said */
        "interrupted \n",
        "interrupt\n",
        "interrupted5\n",
        "1interrupted\n",
        "interrupted\nx\n",
        "1\naninterrupted\n", /* behind a cell that is at work */
        "copy\n",
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        take(cases[i], 100);
        assert_true(relay.is_astray && cell_relay_is_empty(&relay));
        cell_relay_tear_down(state);
        assert_int_equal(cell_relay_set_up(state), 0);
    }
}

static void test_an_answer_without_a_cell_makes_no_sense(void **state)
{
    (void)state;
    cell_relay_serve(&relay, 0);
    assert_false(relay.is_astray);
    assert_int_equal(send(relay.theirs, "", 1, MSG_NOSIGNAL), 1);
    cell_relay_serve(&relay, 0);
    assert_true(relay.is_astray && relay.channel >= 0);
}

static void test_an_answer_in_the_middle_of_the_code_makes_no_sense(void **state)
{
    (void)state;
    take("5\nab", 100);
    assert_int_equal(send(relay.theirs, "", 1, MSG_NOSIGNAL), 1);
    cell_relay_serve(&relay, 0);
    assert_true(relay.is_astray);
}

static void test_a_program_that_closes_its_end_is_noticed(void **state)
{
    (void)state;
    take(CELL, 100);
    assert_int_equal(shutdown(relay.theirs, SHUT_RDWR), 0);
    cell_relay_serve(&relay, 0);
    assert_true(relay.is_astray);
    assert_int_equal(relay.channel, -1);
}

static void test_a_program_that_does_not_read_is_waited_for(void **state)
{
    char code[CELL_RELAY_READ_BYTES] = {0};

    (void)state;
    take("100000000\n", 100);
    assert_int_equal(cell_relay_events(&relay), POLLIN);
    while (cell_relay_is_empty(&relay)) {
        cell_relay_take(&relay, code, sizeof code);
        cell_relay_serve(&relay, 0);
    }
    assert_int_equal(cell_relay_events(&relay), POLLIN | POLLOUT);
    assert_false(relay.is_astray);
}

#define RELAY_TEST(NAME)                                                                           \
    cmocka_unit_test_setup_teardown(NAME, cell_relay_set_up, cell_relay_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RELAY_TEST(test_a_cell_goes_on_in_every_possible_split),
        RELAY_TEST(test_a_line_that_tells_of_an_interrupt_goes_before_a_cell),
        RELAY_TEST(test_an_answer_to_a_line_makes_no_sense),
        RELAY_TEST(test_what_is_no_cell_makes_no_sense),
        RELAY_TEST(test_an_answer_without_a_cell_makes_no_sense),
        RELAY_TEST(test_an_answer_in_the_middle_of_the_code_makes_no_sense),
        RELAY_TEST(test_a_program_that_closes_its_end_is_noticed),
        RELAY_TEST(test_a_program_that_does_not_read_is_waited_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
