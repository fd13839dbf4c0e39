#include "environments/workplace/directory_look.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/list.h"
#include "base/memory.h"
#include "environments/workplace/working_directory.h"
#include "tests/unit/environments/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <unistd.h>

enum {
    GRAIN_MICROSECONDS = 20000, /* more than the grain of file times */
    MANY_TURNS = 50,
};

/* A working directory and a look at it. */
struct sight {
    struct ev_loop *loop;
    char *scratch;
    struct workplace *workplace;
    struct working_directory *directory;
    struct directory_look look;
    unsigned ended; /* looks that were pending */
    unsigned turns; /* that others had meanwhile */
    ev_check turn;
};

static void sight_on_done(struct directory_look *look)
{
    struct sight *sight = CONTAINER_OF(look, struct sight, look);

    sight->ended++;
    ev_break(sight->loop, EVBREAK_ALL);
}

static void sight_on_turn(struct ev_loop *loop, ev_check *turn, int events)
{
    (void)loop;
    (void)events;
    CONTAINER_OF(turn, struct sight, turn)->turns++;
}

static int setup(void **state)
{
    struct sight *sight = NEW(struct sight);
    AUTO_FREE char *root = NULL;
    struct error err = ERROR_INIT;

    sight->loop = ev_loop_new(0);
    sight->scratch = scratch_new();
    root = memory_format("%s/root", sight->scratch);
    sight->workplace = workplace_new(
        &(struct workplace_settings){.loop = sight->loop, .root = root, .keep_seconds = 3600},
        &err);
    sight->directory = workplace_open(sight->workplace, "tester", ISOLATION_NONE, NULL, &err);
    assert_non_null(sight->directory);
    directory_look_init(&sight->look, sight->loop, sight_on_done);
    ev_check_init(&sight->turn, sight_on_turn);
    *state = sight;
    return 0;
}

static int teardown(void **state)
{
    struct sight *sight = *state;

    directory_look_deinit(&sight->look);
    working_directory_unref(sight->directory);
    workplace_free(sight->workplace);
    ev_loop_destroy(sight->loop);
    scratch_free(sight->scratch);
    free(sight);
    return 0;
}

static void do_there(const struct sight *sight, const char *command)
{
    shell(working_directory_path(sight->directory), command);
}

/* Looks until the look is over. */
static void look_there(struct sight *sight)
{
    if (directory_look_start(&sight->look, sight->directory) == OUTCOME_PENDING)
        ev_run(sight->loop, 0);
}

/* Looks, and fails unless NAME alone has changed since the note. */
static void check_changed(struct sight *sight, const char *name)
{
    struct directory_changes changes;

    look_there(sight);
    changes = directory_look_changes(&sight->look);
    assert_int_equal(json_array_size(changes.files), 1);
    assert_string_equal(json_object_get_string(json_array_get(changes.files, 0), "path"), name);
    json_decref(changes.files);
}

static void test_changes_count_from_the_note(void **state)
{
    struct sight *sight = *state;
    struct directory_changes none;

    do_there(sight, "head -c 500000 /dev/zero >old.bin");
    look_there(sight);
    directory_look_note(&sight->look);
    look_there(sight);
    none = directory_look_changes(&sight->look);
    assert_int_equal(json_array_size(none.files), 0);
    json_decref(none.files);
    do_there(sight, "head -c 300000 /dev/zero >new.png");
    check_changed(sight, "new.png");
}

static void test_a_file_that_was_written_to_is_a_change(void **state)
{
    struct sight *sight = *state;

    do_there(sight, "echo code >script.py");
    look_there(sight);
    directory_look_note(&sight->look);
    usleep(GRAIN_MICROSECONDS);
    do_there(sight, "echo more >>script.py");
    check_changed(sight, "script.py");
}

static void test_a_small_directory_is_looked_at_at_once(void **state)
{
    struct sight *sight = *state;

    do_there(sight, "touch $(seq 50)");
    assert_int_equal(directory_look_start(&sight->look, sight->directory), OUTCOME_READY);
    assert_int_equal(sight->ended, 0);
}

static void test_others_have_their_turns_while_a_large_one_is_looked_at(void **state)
{
    struct sight *sight = *state;

    do_there(sight, "seq 9990 | xargs mkdir");
    ev_check_start(sight->loop, &sight->turn);
    assert_int_equal(directory_look_start(&sight->look, sight->directory), OUTCOME_PENDING);
    ev_run(sight->loop, 0);
    ev_check_stop(sight->loop, &sight->turn);
    assert_int_equal(sight->ended, 1);
    assert_true(sight->turns >= MANY_TURNS);
}

static void test_a_look_that_was_cancelled_does_not_end(void **state)
{
    struct sight *sight = *state;

    do_there(sight, "seq 1000 | xargs mkdir");
    assert_int_equal(directory_look_start(&sight->look, sight->directory), OUTCOME_PENDING);
    directory_look_cancel(&sight->look);
    ev_run(sight->loop, EVRUN_NOWAIT);
    assert_int_equal(sight->ended, 0);
    look_there(sight);
    assert_int_equal(sight->ended, 1);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_changes_count_from_the_note),
        TEST(test_a_file_that_was_written_to_is_a_change),
        TEST(test_a_small_directory_is_looked_at_at_once),
        TEST(test_others_have_their_turns_while_a_large_one_is_looked_at),
        TEST(test_a_look_that_was_cancelled_does_not_end),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
