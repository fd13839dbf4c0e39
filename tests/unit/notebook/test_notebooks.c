/* The table of sessions. Their Pythons start with their first cells, so most of these have none. */
#include "environments/notebook/notebooks.h"

#include "base/memory.h"
#include "session_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <unistd.h>

#define LONG_SECONDS 3600.0

enum { MOST = 4, MOST_PER_OWNER = 3, HANDLE_DIGITS = 32 };

static int setup(void **state)
{
    *state = session_fixture_new(MOST, MOST_PER_OWNER, LONG_SECONDS);
    return 0;
}

static int teardown(void **state)
{
    session_fixture_free(*state);
    return 0;
}

static struct notebook *open_one(struct session_fixture *sessions, const char *owner)
{
    struct error err = ERROR_INIT;
    struct notebook *notebook = session_fixture_open(sessions, owner, &err);

    if (!notebook)
        fail_msg("%s", err.message);
    return notebook;
}

static void test_a_session_is_found_by_its_owner_alone(void **state)
{
    struct session_fixture *sessions = *state;
    struct notebook *mine = open_one(sessions, "ann");
    struct notebook *other = open_one(sessions, "bob");

    assert_int_equal(strlen(notebook_handle(mine)), HANDLE_DIGITS);
    assert_string_not_equal(notebook_handle(mine), notebook_handle(other));
    assert_ptr_equal(notebooks_find(sessions->notebooks, "ann", notebook_handle(mine)), mine);
    assert_null(notebooks_find(sessions->notebooks, "bob", notebook_handle(mine)));
    assert_null(notebooks_find(sessions->notebooks, "ann", "new"));
    assert_null(notebooks_find(sessions->notebooks, "", ""));
}

static void test_an_owner_sees_his_own_in_their_order(void **state)
{
    struct session_fixture *sessions = *state;
    struct notebook *first = open_one(sessions, "ann");
    struct notebook *second;

    open_one(sessions, "bob");
    second = open_one(sessions, "ann");
    assert_ptr_equal(notebooks_next(sessions->notebooks, "ann", NULL), first);
    assert_ptr_equal(notebooks_next(sessions->notebooks, "ann", first), second);
    assert_null(notebooks_next(sessions->notebooks, "ann", second));
    assert_null(notebooks_next(sessions->notebooks, "eve", NULL));
}

static void test_the_number_of_one_owner_is_limited(void **state)
{
    struct session_fixture *sessions = *state;
    struct error err = ERROR_INIT;

    for (int i = 0; i < MOST_PER_OWNER; i++)
        open_one(sessions, "ann");
    assert_null(session_fixture_open(sessions, "ann", &err));
    assert_int_equal(err.code, ERROR_BUSY);
    assert_non_null(strstr(err.message, "3 of your sessions are open"));
    open_one(sessions, "bob");
}

static void test_one_that_is_closed_makes_room_at_once_but_not_without_end(void **state)
{
    struct session_fixture *sessions = *state;
    struct error err = ERROR_INIT;

    for (int i = 0; i < MOST_PER_OWNER; i++)
        open_one(sessions, "ann");
    for (int i = 0; i < MOST_PER_OWNER; i++) {
        notebooks_close(notebooks_next(sessions->notebooks, "ann", NULL));
        if (i + 1 < MOST_PER_OWNER)
            open_one(sessions, "ann");
    }
    assert_null(session_fixture_open(sessions, "ann", &err));
    assert_string_equal(err.message, "3 of your sessions are still ending: try again");
    open_one(sessions, "bob");
    notebooks_close(notebooks_next(sessions->notebooks, "bob", NULL)); /* the fourth of all */
    open_one(sessions, "eve");
}

static void test_the_number_of_all_is_limited(void **state)
{
    struct session_fixture *sessions = *state;
    struct error err = ERROR_INIT;

    for (int i = 0; i < MOST; i++)
        open_one(sessions, i < 2 ? "ann" : "bob");
    assert_null(session_fixture_open(sessions, "eve", &err));
    assert_int_equal(err.code, ERROR_BUSY);
    assert_non_null(strstr(err.message, "the server is busy: 4 sessions"));
    assert_int_equal(notebooks_count(sessions->notebooks), MOST);
}

static void test_one_that_is_closed_is_found_no_more(void **state)
{
    struct session_fixture *sessions = *state;
    struct notebook *notebook = open_one(sessions, "ann");
    char *handle = memory_copy_string(notebook_handle(notebook));

    notebooks_close(notebook);
    assert_null(notebooks_find(sessions->notebooks, "ann", handle));
    assert_null(notebooks_next(sessions->notebooks, "ann", NULL));
    assert_false(notebooks_are_idle(sessions->notebooks));
    while (!notebooks_are_idle(sessions->notebooks))
        ev_run(sessions->fixture->loop, EVRUN_ONCE);
    free(handle);
}

static int restart(struct session_fixture *sessions, struct notebook *notebook, struct error *err)
{
    return notebooks_restart(sessions->notebooks, notebook,
                             &(struct notebook_request){
                                 .environment = notebook_environment(notebook),
                                 .directory = notebook_directory(notebook),
                                 .isolation = notebook_isolation(notebook),
                                 .owner = "ann",
                             },
                             err);
}

static void test_a_restart_leaves_the_name(void **state)
{
    struct session_fixture *sessions = *state;
    struct notebook *notebook = open_one(sessions, "ann");
    char *handle = memory_copy_string(notebook_handle(notebook));
    struct error err = ERROR_INIT;
    struct notebook *renewed;

    assert_int_equal(restart(sessions, notebook, &err), 0);
    renewed = notebooks_find(sessions->notebooks, "ann", handle);
    assert_non_null(renewed);
    assert_ptr_not_equal(renewed, notebook);
    assert_ptr_equal(notebooks_next(sessions->notebooks, "ann", NULL), renewed);
    assert_null(notebooks_next(sessions->notebooks, "ann", renewed));
    for (int i = 1; i < MOST_PER_OWNER; i++)
        assert_int_equal(restart(sessions, notebooks_next(sessions->notebooks, "ann", NULL), &err),
                         0);
    renewed = notebooks_next(sessions->notebooks, "ann", NULL);
    assert_int_equal(restart(sessions, renewed, &err), -1);
    assert_string_equal(err.message, "3 of your sessions are still ending: try again");
    assert_ptr_equal(notebooks_find(sessions->notebooks, "ann", handle), renewed);
    free(handle);
}

static void test_where_none_may_be_opened_any_more_all_are_closed(void **state)
{
    struct session_fixture *sessions = *state;

    open_one(sessions, "ann");
    assert_true(notebooks_are_offered(sessions->notebooks));
    notebooks_set_limits(sessions->notebooks, &(struct notebooks_settings){0});
    assert_false(notebooks_are_offered(sessions->notebooks));
    assert_null(notebooks_next(sessions->notebooks, "ann", NULL));
}

static void test_lower_limits_leave_what_is_there(void **state)
{
    struct session_fixture *sessions = *state;
    struct notebook *first = open_one(sessions, "ann");
    struct error err = ERROR_INIT;

    open_one(sessions, "ann");
    notebooks_set_limits(
        sessions->notebooks,
        &(struct notebooks_settings){.most = 1, .most_per_owner = 1, .idle_seconds = 7});
    assert_ptr_equal(notebooks_next(sessions->notebooks, "ann", NULL), first);
    assert_null(session_fixture_open(sessions, "eve", &err));
    assert_true(notebooks_idle_seconds(sessions->notebooks) == 7);
}

static void test_one_without_a_python_cannot_be_copied_and_takes_no_place(void **state)
{
    struct session_fixture *sessions = *state;
    struct notebook *origin = open_one(sessions, "ann");
    struct error err = ERROR_INIT;

    assert_null(notebooks_copy(sessions->notebooks, origin, &err));
    assert_string_equal(err.message, "the session cannot be copied: it has no Python now");
    assert_null(notebooks_next(sessions->notebooks, "ann", origin));
}

static void test_no_sessions_at_all(void **state)
{
    (void)state;
    assert_false(notebooks_are_offered(NULL));
    assert_true(notebooks_are_idle(NULL));
    notebooks_free(NULL);
}

static void test_one_that_nobody_uses_is_closed(void **state)
{
    struct session_fixture *sessions = session_fixture_new(MOST, MOST_PER_OWNER, 0.05);

    (void)state;
    open_one(sessions, "ann");
    while (!notebooks_are_idle(sessions->notebooks))
        ev_run(sessions->fixture->loop, EVRUN_ONCE);
    session_fixture_free(sessions);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

/* Its time is up in the same turn of the loop in which the cell would begin. */
static void test_a_cell_that_comes_at_the_last_moment_is_executed(void **state)
{
    struct session_fixture *sessions = session_fixture_new(1, 1, 0.05);
    struct error err = ERROR_INIT;
    struct notebook *notebook = session_fixture_open(sessions, "ann", &err);
    struct tried_cell cell;

    (void)state;
    assert_non_null(notebook);
    usleep(100000);
    ev_now_update(sessions->fixture->loop);
    tried_cell_submit(&cell, sessions, notebook, "print(1)", 60);
    tried_cell_wait(&cell);
    assert_string_equal(cell.out, "1\n");
    tried_cell_deinit(&cell);
    session_fixture_free(sessions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_session_is_found_by_its_owner_alone),
        TEST(test_an_owner_sees_his_own_in_their_order),
        TEST(test_the_number_of_one_owner_is_limited),
        TEST(test_one_that_is_closed_makes_room_at_once_but_not_without_end),
        TEST(test_the_number_of_all_is_limited),
        TEST(test_one_that_is_closed_is_found_no_more),
        TEST(test_a_restart_leaves_the_name),
        TEST(test_where_none_may_be_opened_any_more_all_are_closed),
        TEST(test_lower_limits_leave_what_is_there),
        TEST(test_one_without_a_python_cannot_be_copied_and_takes_no_place),
        cmocka_unit_test(test_no_sessions_at_all),
        cmocka_unit_test(test_one_that_nobody_uses_is_closed),
        cmocka_unit_test(test_a_cell_that_comes_at_the_last_moment_is_executed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
