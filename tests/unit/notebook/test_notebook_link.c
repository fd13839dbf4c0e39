/* The socket of a session, with the test in the place of its Python. */
#include "base/cleanup.h"
#include "base/descriptors.h"
#include "base/memory.h"
#include "environments/notebook/notebook_private.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <cmocka.h>

struct linked {
    struct notebook notebook;
    int python; /* the other end */
    int answers;
    int status; /* the newest */
    int breaks;
};

static void on_answered(struct notebook *notebook, int status)
{
    struct linked *linked = CONTAINER_OF(notebook, struct linked, notebook);

    linked->answers++;
    linked->status = status;
}

static void on_broken(struct notebook *notebook)
{
    CONTAINER_OF(notebook, struct linked, notebook)->breaks++;
    notebook_link_close(notebook);
}

static int setup(void **state)
{
    struct linked *linked = NEW(struct linked);
    struct error err = ERROR_INIT;

    linked->notebook.loop = ev_loop_new(0);
    linked->notebook.channel.answered = on_answered;
    linked->notebook.channel.broken = on_broken;
    assert_int_equal(notebook_link_open(&linked->notebook, &linked->python, &err), 0);
    *state = linked;
    return 0;
}

static int teardown(void **state)
{
    struct linked *linked = *state;

    notebook_link_close(&linked->notebook);
    if (linked->python >= 0)
        close(linked->python);
    ev_loop_destroy(linked->notebook.loop);
    free(linked);
    return 0;
}

static void turn(struct linked *linked)
{
    ev_run(linked->notebook.loop, EVRUN_NOWAIT);
}

static void write_bytes(struct linked *linked, const char *bytes, size_t length)
{
    assert_int_equal(write(linked->python, bytes, length), length);
    turn(linked);
}

static void test_one_byte_is_the_end_of_a_cell(void **state)
{
    struct linked *linked = *state;

    write_bytes(linked, "\x03", 1);
    assert_int_equal(linked->answers, 1);
    assert_int_equal(linked->status, 3);
    write_bytes(linked, "\xff", 1);
    assert_int_equal(linked->answers, 2);
    assert_int_equal(linked->status, 255);
    assert_int_equal(linked->breaks, 0);
}

static void test_more_than_one_byte_is_nonsense(void **state)
{
    struct linked *linked = *state;

    write_bytes(linked, "\0\0", 2);
    assert_int_equal(linked->answers, 0);
    assert_int_equal(linked->breaks, 1);
}

static void test_an_end_that_is_closed_is_told_once(void **state)
{
    struct linked *linked = *state;

    close(STEAL_FD(linked->python));
    turn(linked);
    turn(linked);
    assert_int_equal(linked->breaks, 1);
    assert_int_equal(linked->notebook.channel.fd, -1);
}

static void test_code_comes_whole_behind_its_length_however_slowly_it_is_read(void **state)
{
    enum { CODE_BYTES = 1 << 20 };
    struct linked *linked = *state;
    AUTO_FREE char *code = memory_new(CODE_BYTES + 1, 1);
    AUTO_FREE char *read_back = memory_new(CODE_BYTES + 64, 1);
    const struct cell cell = {.code = code, .request.code_length = CODE_BYTES};
    const char *begin;
    size_t length = 0;

    memset(code, 'x', CODE_BYTES);
    notebook_link_send(&linked->notebook, &cell);
    assert_true(ev_is_active(&linked->notebook.channel.writing));
    while (length < CODE_BYTES + strlen("1048576\n")) {
        ssize_t count = recv(linked->python, read_back + length, 65536, MSG_DONTWAIT);

        if (count > 0)
            length += (size_t)count;
        turn(linked);
    }
    begin = strchr(read_back, '\n') + 1;
    assert_memory_equal(read_back, "1048576\n", strlen("1048576\n"));
    assert_string_equal(begin, code);
    assert_false(ev_is_active(&linked->notebook.channel.writing));
}

static void test_an_order_comes_with_its_descriptors(void **state)
{
    struct linked *linked = *state;
    const int given[NOTEBOOK_GIVEN] = {0, 1, 2, 0};
    int descriptors[NOTEBOOK_GIVEN];
    struct error err = ERROR_INIT;
    char text[16] = "";
    size_t count;

    assert_int_equal(notebook_link_order(&linked->notebook, given, &err), 0);
    assert_int_equal(descriptors_receive(linked->python, text, sizeof text, 0, descriptors,
                                         NOTEBOOK_GIVEN, &count),
                     strlen("copy\n"));
    assert_string_equal(text, "copy\n");
    assert_int_equal(count, NOTEBOOK_GIVEN);
    for (size_t i = 0; i < count; i++)
        close(descriptors[i]);
}

static void test_orders_that_nobody_reads_are_refused(void **state)
{
    struct linked *linked = *state;
    const int given[NOTEBOOK_GIVEN] = {0, 1, 2, 0};
    struct error err = ERROR_INIT;
    int orders = 0;

    while (notebook_link_order(&linked->notebook, given, &err) == 0)
        assert_true(++orders < 50);
    assert_true(orders > 1);
    assert_int_equal(err.code, ERROR_BUSY);
}

static void test_an_order_does_not_overtake_code(void **state)
{
    enum { CODE_BYTES = 1 << 20 };
    struct linked *linked = *state;
    AUTO_FREE char *code = memory_new(CODE_BYTES + 1, 1);
    const struct cell cell = {.code = code, .request.code_length = CODE_BYTES};
    const int given[NOTEBOOK_GIVEN] = {0, 1, 2, 0};
    struct error err = ERROR_INIT;

    notebook_link_send(&linked->notebook, &cell);
    assert_int_equal(notebook_link_order(&linked->notebook, given, &err), -1);
    assert_int_equal(err.code, ERROR_BUSY);
}

static void test_code_that_does_not_fit_behind_code_that_nobody_reads_is_told(void **state)
{
    enum { CODE_BYTES = 1 << 20, MOST = 8 };
    struct linked *linked = *state;
    AUTO_FREE char *code = memory_new(CODE_BYTES + 1, 1);
    const struct cell cell = {.code = code, .request.code_length = CODE_BYTES};

    for (int i = 0; i < MOST; i++)
        notebook_link_send(&linked->notebook, &cell);
    assert_int_equal(linked->breaks, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one_byte_is_the_end_of_a_cell, setup, teardown),
        cmocka_unit_test_setup_teardown(test_more_than_one_byte_is_nonsense, setup, teardown),
        cmocka_unit_test_setup_teardown(test_an_end_that_is_closed_is_told_once, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_code_comes_whole_behind_its_length_however_slowly_it_is_read, setup, teardown),
        cmocka_unit_test_setup_teardown(test_an_order_comes_with_its_descriptors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_orders_that_nobody_reads_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_an_order_does_not_overtake_code, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_code_that_does_not_fit_behind_code_that_nobody_reads_is_told, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
