/* A session and its cells, with a real Python. */
#include "environments/notebook/notebook.h"

#include "environments/notebook/notebook_private.h"
#include "session_fixture.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define LONG_SECONDS 3600.0

static int setup(void **state)
{
    *state = session_fixture_new(4, 4, LONG_SECONDS);
    return 0;
}

static int teardown(void **state)
{
    session_fixture_free(*state);
    return 0;
}

static struct notebook *open_one(struct session_fixture *sessions)
{
    struct error err = ERROR_INIT;
    struct notebook *notebook = session_fixture_open(sessions, "ann", &err);

    if (!notebook)
        fail_msg("%s", err.message);
    return notebook;
}

static void expect(struct session_fixture *sessions, struct notebook *notebook, const char *code,
                   const char *out)
{
    struct tried_cell cell;

    tried_cell_execute(&cell, sessions, notebook, code);
    assert_int_equal(cell.end, RUN_ENDED);
    assert_int_equal(cell.session, RUN_SESSION_KEPT);
    assert_string_equal(cell.out, out);
    tried_cell_deinit(&cell);
}

static void submit(struct tried_cell *cell, struct session_fixture *sessions,
                   struct notebook *notebook, const char *code)
{
    tried_cell_submit(cell, sessions, notebook, code, 60);
}

/* Until CELL, which is the first, has printed something. */
static void run_until_it_prints(struct tried_cell *cell)
{
    char *line = NULL;

    while (!line || !*line) {
        free(line);
        ev_run(cell->sessions->fixture->loop, EVRUN_ONCE);
        line = cell_last_line(cell->cell);
    }
    free(line);
}

static void test_variables_stay_and_cells_are_counted(void **state)
{
    struct session_fixture *sessions = *state;
    struct notebook *notebook = open_one(sessions);

    expect(sessions, notebook, "x = 20", "");
    expect(sessions, notebook, "x += 1\n2 * x", "42\n");
    assert_int_equal(notebook_cells(notebook), 2);
    assert_false(notebook_is_busy(notebook));
}

static void test_cells_come_in_their_order_and_say_what_they_do(void **state)
{
    struct session_fixture *sessions = *state;
    struct notebook *notebook = open_one(sessions);
    struct tried_cell cells[3];

    submit(&cells[0], sessions, notebook,
           "import time\nprint('begun', flush=True)\ntime.sleep(.05)");
    submit(&cells[1], sessions, notebook, "print('second')");
    submit(&cells[2], sessions, notebook, "print('third')");
    assert_string_equal(cell_activity(cells[0].cell), "waiting");
    assert_true(notebook_is_busy(notebook));
    run_until_it_prints(&cells[0]);
    assert_string_equal(cell_activity(cells[0].cell), "running");
    assert_string_equal(cell_activity(cells[1].cell), "waiting");
    assert_null(cell_last_line(cells[1].cell));
    tried_cell_wait(&cells[2]);
    assert_string_equal(cells[1].out, "second\n");
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(cells[i].order, i);
        tried_cell_deinit(&cells[i]);
    }
}

static void test_a_cell_that_waits_and_is_cancelled_is_not_executed(void **state)
{
    struct session_fixture *sessions = *state;
    struct notebook *notebook = open_one(sessions);
    struct tried_cell cells[2];

    submit(&cells[0], sessions, notebook, "x = 1");
    submit(&cells[1], sessions, notebook, "x = 2");
    cell_cancel(cells[1].cell);
    tried_cell_wait(&cells[0]);
    expect(sessions, notebook, "x", "1\n");
    assert_false(cells[1].is_done);
    tried_cell_deinit(&cells[0]);
}

static void test_a_cancel_interrupts_and_nobody_is_told(void **state)
{
    struct session_fixture *sessions = *state;
    struct notebook *notebook = open_one(sessions);
    struct tried_cell cell;

    submit(&cell, sessions, notebook,
           "x = 1\nimport time\nprint(1, flush=True)\ntime.sleep(60)\nx = 2");
    run_until_it_prints(&cell);
    cell_cancel(cell.cell);
    expect(sessions, notebook, "x", "1\n");
    assert_false(cell.is_done);
}

static void test_a_cancel_before_there_is_a_python_leaves_the_session(void **state)
{
    struct session_fixture *sessions = *state;
    struct notebook *notebook = open_one(sessions);
    struct tried_cell cell;

    submit(&cell, sessions, notebook, "x = 1");
    ev_run(sessions->fixture->loop, EVRUN_ONCE);
    cell_cancel(cell.cell);
    expect(sessions, notebook, "'x' in globals()", "False\n");
    assert_false(cell.is_done);
}

static void test_a_timeout_interrupts_and_the_variables_stay(void **state)
{
    struct session_fixture *sessions = *state;
    struct notebook *notebook = open_one(sessions);
    struct tried_cell cell;

    expect(sessions, notebook, "import time\nx = 1", "");
    tried_cell_submit(&cell, sessions, notebook, "print('before')\ntime.sleep(60)", 1);
    tried_cell_wait(&cell);
    assert_int_equal(cell.end, RUN_TIMED_OUT);
    assert_int_equal(cell.session, RUN_SESSION_KEPT);
    assert_int_equal(cell.returncode, -SIGINT);
    assert_string_equal(cell.out, "before\n");
    expect(sessions, notebook, "x", "1\n");
    tried_cell_deinit(&cell);
}

static void test_one_that_ignores_the_interrupt_is_killed(void **state)
{
    struct session_fixture *sessions = *state;
    struct notebook *notebook = open_one(sessions);
    struct tried_cell cell;

    expect(sessions, notebook, "import signal; _ = signal.signal(signal.SIGINT, signal.SIG_IGN)",
           "");
    tried_cell_submit(&cell, sessions, notebook, "while True: pass", 0.1);
    tried_cell_wait(&cell);
    assert_int_equal(cell.end, RUN_TIMED_OUT);
    assert_int_equal(cell.session, RUN_SESSION_GONE);
    tried_cell_deinit(&cell);
}

static void test_the_end_of_its_python_is_told_to_each_that_waits(void **state)
{
    struct session_fixture *sessions = *state;
    struct notebook *notebook = open_one(sessions);
    struct tried_cell cells[2];

    submit(&cells[0], sessions, notebook, "import os\nprint('last', flush=True)\nos._exit(7)");
    submit(&cells[1], sessions, notebook, "print('never')");
    tried_cell_wait(&cells[1]);
    assert_int_equal(cells[0].end, RUN_ENDED);
    assert_int_equal(cells[0].returncode, 7);
    assert_int_equal(cells[0].session, RUN_SESSION_GONE);
    assert_string_equal(cells[0].out, "last\n");
    assert_int_equal(cells[1].end, RUN_FAILED);
    assert_non_null(strstr(cells[1].error, "exit status 7"));
    assert_null(notebooks_next(sessions->notebooks, "ann", NULL));
    for (int i = 0; i < 2; i++)
        tried_cell_deinit(&cells[i]);
}

static void test_an_answer_that_is_forged_is_the_end_of_that_cell_only(void **state)
{
    struct session_fixture *sessions = *state;
    struct notebook *notebook = open_one(sessions);
    struct tried_cell cell;

    tried_cell_execute(&cell, sessions, notebook,
                       "import os, time\nos.write(200, b'\\5')\ntime.sleep(60)");
    assert_int_equal(cell.returncode, 5);
    tried_cell_deinit(&cell);
}

static void test_an_answer_to_nothing_ends_the_session(void **state)
{
    struct session_fixture *sessions = *state;
    struct notebook *notebook = open_one(sessions);
    struct tried_cell cell;

    tried_cell_execute(&cell, sessions, notebook, "import os\nos.write(200, b'\\0\\0')");
    assert_int_equal(cell.session, RUN_SESSION_GONE);
    tried_cell_deinit(&cell);
}

static void test_closing_tells_the_cells(void **state)
{
    struct session_fixture *sessions = *state;
    struct notebook *notebook = open_one(sessions);
    struct tried_cell cells[2];

    submit(&cells[0], sessions, notebook, "print(1, flush=True)\nwhile True: pass");
    submit(&cells[1], sessions, notebook, "pass");
    run_until_it_prints(&cells[0]);
    notebooks_close(notebook);
    for (int i = 0; i < 2; i++) {
        assert_true(cells[i].is_done);
        assert_string_equal(cells[i].error, "the session was closed");
        assert_int_equal(cells[i].session, RUN_SESSION_GONE);
        tried_cell_deinit(&cells[i]);
    }
}

static void test_stopping_tells_nobody(void **state)
{
    struct session_fixture *sessions = *state;
    struct notebook *notebook = open_one(sessions);
    struct tried_cell cell;

    submit(&cell, sessions, notebook, "print(1, flush=True)\nwhile True: pass");
    run_until_it_prints(&cell);
    notebooks_stop(sessions->notebooks);
    assert_false(cell.is_done);
}

static void test_an_environment_that_cannot_be_prepared_is_the_end(void **state)
{
    struct session_fixture *sessions = *state;
    struct notebook *notebook = session_fixture_open_in(
        sessions, fixture_environment(sessions->fixture, "missing",
                                      "{\"type\": \"system\", \"executable\": \"/none/python\"}"));
    struct tried_cell cells[2];

    submit(&cells[0], sessions, notebook, "1");
    submit(&cells[1], sessions, notebook, "2");
    for (int i = 0; i < 2; i++) {
        tried_cell_wait(&cells[i]);
        assert_int_equal(cells[i].end, RUN_FAILED);
        assert_int_equal(cells[i].session, RUN_SESSION_GONE);
        assert_non_null(strstr(cells[i].error, "/none/python"));
        tried_cell_deinit(&cells[i]);
    }
    assert_null(notebooks_next(sessions->notebooks, "ann", NULL));
}

static void test_what_a_cell_has_used_is_its_own(void **state)
{
    struct session_fixture *sessions = *state;
    struct notebook *notebook = open_one(sessions);
    struct tried_cell busy;
    struct tried_cell idle;

    tried_cell_execute(&busy, sessions, notebook,
                       "import time\nend = time.process_time() + 0.3\n"
                       "while time.process_time() < end: pass");
    tried_cell_execute(&idle, sessions, notebook, "1");
    assert_true(busy.cpu_seconds > 0.2);
    assert_true(idle.cpu_seconds < 0.2);
    assert_true(busy.prepare_seconds > idle.prepare_seconds);
    tried_cell_deinit(&busy);
    tried_cell_deinit(&idle);
}

static void test_without_sessions_cells_are_told_why_they_end(void **state)
{
    struct session_fixture *sessions = *state;
    struct notebook *notebook = open_one(sessions);
    struct tried_cell cell;

    submit(&cell, sessions, notebook, "print(1, flush=True)\nwhile True: pass");
    run_until_it_prints(&cell);
    notebooks_set_limits(sessions->notebooks, &(struct notebooks_settings){0});
    assert_true(cell.is_done);
    assert_string_equal(cell.error, "the session was closed: the server has none any more");
    tried_cell_deinit(&cell);
}

static void close_it(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    notebooks_close(timer->data);
}

/* As a reload that switches sessions off does, or a client that closes one. */
static void test_closing_just_before_a_cell_begins_frees_it_once(void **state)
{
    struct session_fixture *sessions = *state;
    struct ev_loop *loop = sessions->fixture->loop;

    for (int is_first = 0; is_first < 2; is_first++) { /* whichever timer's turn is first */
        struct notebook *notebook = open_one(sessions);
        struct tried_cell cell;
        ev_timer closing;

        ev_timer_init(&closing, close_it, 0., 0.);
        closing.data = notebook;
        if (is_first)
            ev_timer_start(loop, &closing);
        submit(&cell, sessions, notebook, "pass");
        ev_timer_start(loop, &closing);
        while (!cell.is_done || notebooks_count(sessions->notebooks) > 0)
            ev_run(loop, EVRUN_ONCE);
        fixture_run_for(sessions->fixture, 0.01);
        tried_cell_deinit(&cell);
    }
}

static void test_files_are_those_of_each_cell(void **state)
{
    struct session_fixture *sessions = *state;
    struct notebook *notebook = open_one(sessions);

    expect(sessions, notebook, "open('one', 'w').close()\nimport os\nos.listdir()", "['one']\n");
    assert_ptr_equal(notebook_directory(notebook), sessions->directory);
}

/* Files that its Python does not get before the test says so. */
static void never_bring(struct execution *execution)
{
    (void)execution;
}

static void run_until_it_brings(struct session_fixture *sessions, const struct notebook *notebook)
{
    while (notebook->state != NOTEBOOK_BRINGING)
        ev_run(sessions->fixture->loop, EVRUN_ONCE);
}

static void test_the_time_of_a_cell_begins_when_its_files_are_there(void **state)
{
    struct session_fixture *sessions = *state;
    struct notebook *notebook = open_one(sessions);
    struct tried_cell cell;

    expect(sessions, notebook, "x = 1", "");
    notebook->turn.execution->bring = never_bring;
    tried_cell_submit(&cell, sessions, notebook, "x", 1);
    run_until_it_brings(sessions, notebook);
    fixture_run_for(sessions->fixture, 1.5);
    assert_false(cell.is_done);
    notebook->turn.listener.brought(&notebook->turn.listener);
    tried_cell_wait(&cell);
    assert_string_equal(cell.out, "1\n");
    assert_true(cell.prepare_seconds > 1);
    tried_cell_deinit(&cell);
}

static void test_a_cancel_while_files_are_brought_leaves_the_session(void **state)
{
    struct session_fixture *sessions = *state;
    struct notebook *notebook = open_one(sessions);
    struct tried_cell cell;

    expect(sessions, notebook, "x = 1", "");
    notebook->turn.execution->bring = never_bring;
    submit(&cell, sessions, notebook, "x = 2");
    run_until_it_brings(sessions, notebook);
    cell_cancel(cell.cell);
    notebook->turn.execution->bring = NULL;
    notebook->turn.listener.brought(&notebook->turn.listener); /* for nobody */
    expect(sessions, notebook, "x", "1\n");
    assert_false(cell.is_done);
}

static void test_the_end_of_its_python_while_files_are_brought_is_told(void **state)
{
    struct session_fixture *sessions = *state;
    struct notebook *notebook = open_one(sessions);
    struct tried_cell cell;

    expect(sessions, notebook, "x = 1", "");
    notebook->turn.execution->bring = never_bring;
    submit(&cell, sessions, notebook, "x");
    run_until_it_brings(sessions, notebook);
    notebook->turn.execution->kill(notebook->turn.execution);
    tried_cell_wait(&cell);
    assert_int_equal(cell.end, RUN_FAILED);
    assert_int_equal(cell.session, RUN_SESSION_GONE);
    assert_string_not_equal(cell.error, "");
    tried_cell_deinit(&cell);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_variables_stay_and_cells_are_counted),
        TEST(test_cells_come_in_their_order_and_say_what_they_do),
        TEST(test_a_cell_that_waits_and_is_cancelled_is_not_executed),
        TEST(test_a_cancel_interrupts_and_nobody_is_told),
        TEST(test_a_cancel_before_there_is_a_python_leaves_the_session),
        TEST(test_a_timeout_interrupts_and_the_variables_stay),
        TEST(test_one_that_ignores_the_interrupt_is_killed),
        TEST(test_the_end_of_its_python_is_told_to_each_that_waits),
        TEST(test_an_answer_that_is_forged_is_the_end_of_that_cell_only),
        TEST(test_an_answer_to_nothing_ends_the_session),
        TEST(test_closing_tells_the_cells),
        TEST(test_stopping_tells_nobody),
        TEST(test_an_environment_that_cannot_be_prepared_is_the_end),
        TEST(test_what_a_cell_has_used_is_its_own),
        TEST(test_without_sessions_cells_are_told_why_they_end),
        TEST(test_closing_just_before_a_cell_begins_frees_it_once),
        TEST(test_files_are_those_of_each_cell),
        TEST(test_the_time_of_a_cell_begins_when_its_files_are_there),
        TEST(test_a_cancel_while_files_are_brought_leaves_the_session),
        TEST(test_the_end_of_its_python_while_files_are_brought_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
