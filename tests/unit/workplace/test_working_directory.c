#include "environments/workplace/working_directory.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "tests/unit/environments/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SWEEP_SECONDS 0.3 /* far longer than a sweep of a few directories takes */

struct place {
    struct ev_loop *loop;
    char *scratch;
    char *root;
    char *path;
    struct workplace *workplace;
};

static struct workplace *open_workplace(struct place *place, const char *path, double keep)
{
    const struct workplace_settings settings = {.loop = place->loop,
                                                .path = path,
                                                .isolations = 1U << ISOLATION_NONE,
                                                .root = place->root,
                                                .keep_seconds = keep};
    struct error err = ERROR_INIT;
    struct workplace *workplace = workplace_new(&settings, &err);

    if (!workplace)
        fail_msg("%s", err.message);
    return workplace;
}

static int setup(void **state)
{
    struct place *place = NEW(struct place);

    place->loop = ev_loop_new(0);
    place->scratch = scratch_new();
    place->root = memory_format("%s/state/root", place->scratch);
    place->path = memory_format("%s/configured", place->scratch);
    place->workplace = open_workplace(place, NULL, 3600);
    *state = place;
    return 0;
}

static int teardown(void **state)
{
    struct place *place = *state;

    workplace_free(place->workplace);
    ev_loop_destroy(place->loop);
    free(place->root);
    free(place->path);
    scratch_free(place->scratch);
    free(place);
    return 0;
}

static void on_break(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)timer;
    (void)events;
    ev_break(loop, EVBREAK_ALL);
}

static void run_for(struct place *place, double seconds)
{
    ev_timer timer;

    ev_now_update(place->loop);
    ev_timer_init(&timer, on_break, seconds, 0.);
    ev_timer_start(place->loop, &timer);
    ev_run(place->loop, 0);
    ev_timer_stop(place->loop, &timer);
}

static struct working_directory *open_directory_of(struct workplace *workplace,
                                                   const char *principal, const char *handle)
{
    struct error err = ERROR_INIT;
    struct working_directory *directory =
        workplace_open(workplace, principal, ISOLATION_NONE, handle, &err);

    if (!directory)
        fail_msg("%s", err.message);
    return directory;
}

static struct working_directory *open_new(struct place *place)
{
    return open_directory_of(place->workplace, "tester", NULL);
}

static void open_claim_as(struct directory_claim *claim, struct working_directory *directory,
                          enum script_delivery delivery, const char *code)
{
    struct error err = ERROR_INIT;

    if (directory_claim_open(claim, directory, delivery, &err) < 0 ||
        directory_claim_write(claim, code, strlen(code), &err) < 0)
        fail_msg("%s", err.message);
}

static void open_claim(struct directory_claim *claim, struct working_directory *directory,
                       const char *code)
{
    open_claim_as(claim, directory, SCRIPT_IN_FILE, code);
}

static void assert_script(const struct working_directory *directory, const char *expected)
{
    AUTO_FREE char *path = memory_format("%s/script.py", working_directory_path(directory));
    AUTO_FREE char *text = read_text(path);

    assert_non_null(text);
    assert_string_equal(text, expected);
}

static mode_t mode_of(const char *path)
{
    struct stat status;

    assert_int_equal(lstat(path, &status), 0);
    return status.st_mode & 07777;
}

/* The root */

static void test_the_root_is_private(void **state)
{
    struct place *place = *state;

    assert_int_equal(mode_of(place->root), 0700);
}

static void test_a_root_open_to_others_is_refused(void **state)
{
    struct place *place = *state;
    AUTO_FREE char *root = memory_format("%s/open", place->scratch);
    AUTO_FREE char *link = memory_format("%s/link", place->scratch);
    struct workplace_settings settings = {.loop = place->loop, .root = root};
    struct error open_err = ERROR_INIT;
    struct error link_err = ERROR_INIT;

    assert_int_equal(mkdir(root, 0700), 0);
    assert_int_equal(chmod(root, 0710), 0);
    assert_null(workplace_new(&settings, &open_err));
    assert_non_null(strstr(open_err.message, "chmod 700"));
    assert_int_equal(symlink(place->root, link), 0);
    settings.root = link;
    assert_null(workplace_new(&settings, &link_err));
}

static void test_nothing_of_a_server_is_left_but_directories(void **state)
{
    struct place *place = *state;
    struct working_directory *directory = open_new(place);
    struct directory_claim first;
    struct directory_claim second;

    open_claim(&first, directory, "1");
    open_claim(&second, directory, "2");
    directory_claim_close(&first);
    directory_claim_close(&second);
    working_directory_unref(directory);
    workplace_free(place->workplace);
    shell(place->root,
          "test \"$(ls)\" = \"$(printf 'p-none-tester\\ntrash')\"; test -z \"$(ls trash)\"");
    place->workplace = NULL;
}

/* Handles and principals */

static void test_directories_are_private_and_have_unguessable_handles(void **state)
{
    struct place *place = *state;
    struct working_directory *a = open_new(place);
    struct working_directory *b = open_new(place);

    assert_int_equal(strlen(working_directory_handle(a)), 32);
    assert_int_equal(strspn(working_directory_handle(a), "0123456789abcdef"), 32);
    assert_string_not_equal(working_directory_handle(a), working_directory_handle(b));
    assert_int_equal(mode_of(working_directory_path(a)), 0700);
    working_directory_unref(a);
    working_directory_unref(b);
}

static void test_a_handle_opens_the_same_directory_again(void **state)
{
    struct place *place = *state;
    struct working_directory *a = open_new(place);
    AUTO_FREE char *handle = memory_copy_string(working_directory_handle(a));
    AUTO_FREE char *path = memory_copy_string(working_directory_path(a));
    struct working_directory *b = open_directory_of(place->workplace, "tester", handle);

    assert_ptr_equal(a, b);
    working_directory_unref(a);
    working_directory_unref(b);
    workplace_free(place->workplace); /* another server later */
    place->workplace = open_workplace(place, NULL, 3600);
    a = open_directory_of(place->workplace, "tester", handle);
    assert_string_equal(working_directory_path(a), path);
    working_directory_unref(a);
}

static void test_a_handle_is_nobody_elses_and_nothing_else(void **state)
{
    struct place *place = *state;
    struct working_directory *directory = open_new(place);
    AUTO_FREE char *handle = memory_copy_string(working_directory_handle(directory));
    AUTO_FREE char *upward = memory_format("../p-none-tester/%s", handle);
    const char *const wrong[] = {
        "",
        ".",
        "..",
        "/",
        upward,
        "../../etc",
        "00000000000000000000000000000000",
        "ABCDEFABCDEFABCDEFABCDEFABCDEFAB",
        "0123456789abcdef",
        "x",
    };
    struct error err = ERROR_INIT;

    assert_null(workplace_open(place->workplace, "somebody", ISOLATION_NONE, handle, &err));
    assert_int_equal(err.code, ERROR_INVALID_ARGUMENTS);
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        struct error wrong_err = ERROR_INIT;

        assert_null(
            workplace_open(place->workplace, "tester", ISOLATION_NONE, wrong[i], &wrong_err));
        assert_int_equal(wrong_err.code, ERROR_INVALID_ARGUMENTS);
    }
    working_directory_unref(directory);
}

static void test_no_principal_leads_out_of_the_root(void **state)
{
    static const char *const names[] = {"",         ".",    "..", "../x", "a/b",  "a%b",
                                        "uid:1000", "\xFF", "*",  " ",    "a_2fb"};
    struct place *place = *state;

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        struct working_directory *directory = open_directory_of(place->workplace, names[i], NULL);
        AUTO_FREE char *resolved = realpath(working_directory_path(directory), NULL);

        assert_string_equal(resolved, working_directory_path(directory));
        assert_int_equal(strncmp(resolved, place->root, strlen(place->root)), 0);
        working_directory_unref(directory);
    }
    assert_int_equal(count_entries(place->root), 1 + ARRAY_SIZE(names));
}

static void test_a_directory_is_for_runs_of_its_isolation(void **state)
{
    struct place *place = *state;
    struct working_directory *directory = open_new(place);
    AUTO_FREE char *handle = memory_copy_string(working_directory_handle(directory));
    struct error held = ERROR_INIT;
    struct error left = ERROR_INIT;
    struct error unknown = ERROR_INIT;

    assert_null(workplace_open(place->workplace, "tester", ISOLATION_DOCKER, handle, &held));
    assert_int_equal(held.code, ERROR_INVALID_ARGUMENTS);
    assert_non_null(strstr(held.message, "for environments with isolation \"none\""));
    working_directory_unref(directory);
    workplace_free(place->workplace); /* another server later */
    place->workplace = open_workplace(place, NULL, 3600);
    assert_null(workplace_open(place->workplace, "tester", ISOLATION_DOCKER, handle, &left));
    assert_non_null(strstr(left.message, "for environments with isolation \"none\""));
    assert_null(workplace_open(place->workplace, "other", ISOLATION_DOCKER, handle, &unknown));
    assert_non_null(strstr(unknown.message, "there is no such working directory"));
    working_directory_unref(open_directory_of(place->workplace, "tester", handle));
}

/* script.py */

static void test_a_run_alone_has_its_code_in_script_py(void **state)
{
    struct place *place = *state;
    struct working_directory *directory = open_new(place);
    struct directory_claim claim;

    for (int delivery = SCRIPT_IN_PLACE; delivery <= SCRIPT_IN_FILE; delivery++) {
        open_claim_as(&claim, directory, (enum script_delivery)delivery, "print(1)");
        assert_script(directory, "print(1)");
        assert_int_equal(mode_of(claim.script), 0600);
        directory_claim_close(&claim);
        assert_script(directory, "print(1)");
        open_claim_as(&claim, directory, (enum script_delivery)delivery, "longer(2)");
        assert_script(directory, "longer(2)");
        directory_claim_close(&claim);
    }
    assert_int_equal(count_entries(working_directory_path(directory)), 1);
    working_directory_unref(directory);
}

static void assert_private_file(const struct directory_claim *claim, const char *expected)
{
    AUTO_FREE char *text = read_text(claim->file);

    assert_string_equal(text, expected);
    assert_int_equal(mode_of(claim->file), 0600);
}

static void test_who_asks_for_a_private_file_gets_the_code_in_one(void **state)
{
    struct place *place = *state;
    struct working_directory *directory = open_new(place);
    struct directory_claim claims[2];
    AUTO_FREE char *file = NULL;

    open_claim_as(&claims[0], directory, SCRIPT_LAID_OVER, "first");
    assert_null(claims[0].file);
    open_claim_as(&claims[1], directory, SCRIPT_IN_FILE, "second");
    assert_private_file(&claims[1], "second");
    file = memory_copy_string(claims[1].file);
    directory_claim_close(&claims[1]);
    assert_int_equal(access(file, F_OK), -1);
    directory_claim_close(&claims[0]);
    working_directory_unref(directory);
}

static void test_overlapping_runs_leave_script_py_alone(void **state)
{
    struct place *place = *state;
    struct working_directory *directory = open_new(place);
    struct directory_claim claims[3];

    open_claim(&claims[0], directory, "first");
    open_claim(&claims[1], directory, "second");
    open_claim(&claims[2], directory, "third");
    assert_private_file(&claims[1], "second");
    assert_string_equal(claims[1].script, claims[0].script);
    directory_claim_close(&claims[0]);
    directory_claim_close(&claims[2]);
    assert_script(directory, "first");
    directory_claim_close(&claims[1]);
    assert_script(directory, "third"); /* the newest call's, whoever ended last */
    working_directory_unref(directory);
}

/* To replace script.py would uncover it where a container that is kept has its code over it. */
static void test_script_py_stays_the_same_file_from_call_to_call(void **state)
{
    struct place *place = *state;
    struct working_directory *directory = open_new(place);
    AUTO_FREE char *path = memory_format("%s/script.py", working_directory_path(directory));
    struct stat before;

    for (int i = 0; i < 3; i++) {
        AUTO_FREE char *code = memory_format("code %d", i);
        struct directory_claim claim;
        struct directory_claim second;
        struct stat after;

        open_claim(&claim, directory, code);
        open_claim(&second, directory, "later");
        directory_claim_close(&claim);
        directory_claim_close(&second);
        assert_script(directory, "later");
        assert_int_equal(stat(path, &after), 0);
        if (i > 0)
            assert_int_equal(after.st_ino, before.st_ino);
        before = after;
    }
    working_directory_unref(directory);
}

static void test_busy_means_that_a_run_would_have_to_wait(void **state)
{
    struct place *place = *state;
    struct working_directory *directory = open_new(place);
    struct directory_claim claim;

    assert_false(working_directory_is_busy(directory, false));
    open_claim(&claim, directory, "1");
    assert_true(working_directory_is_busy(directory, false));
    assert_false(working_directory_is_busy(directory, true));
    directory_claim_close(&claim);
    open_claim_as(&claim, directory, SCRIPT_IN_PLACE, "2");
    assert_true(working_directory_is_busy(directory, true));
    directory_claim_close(&claim);
    assert_false(working_directory_is_busy(directory, false));
    working_directory_unref(directory);
}

/* What a script may have made of script.py before the next call. */
static const char *const planted[] = {
    "rm script.py; ln -s ../../../victim script.py",
    "rm script.py; ln -s nowhere script.py",
    "rm script.py; mkdir script.py; touch script.py/data",
    "rm script.py; mkfifo script.py",
    "rm script.py; ln ../../../victim script.py",
    "chmod 0 script.py",
    "rm script.py",
};

static void plant(struct place *place, struct working_directory *directory, const char *command)
{
    AUTO_FREE char *victim = memory_format("%s/state/victim", place->scratch);

    write_text(victim, "untouched");
    shell(working_directory_path(directory), command);
}

static void assert_victim(struct place *place)
{
    AUTO_FREE char *victim = memory_format("%s/state/victim", place->scratch);
    AUTO_FREE char *text = read_text(victim);

    assert_string_equal(text, "untouched");
}

static void check_planted(struct place *place, enum script_delivery delivery)
{
    for (size_t i = 0; i < ARRAY_SIZE(planted); i++) {
        struct working_directory *directory = open_new(place);
        struct directory_claim claim;

        open_claim_as(&claim, directory, delivery, "old");
        plant(place, directory, planted[i]);
        directory_claim_close(&claim);
        open_claim_as(&claim, directory, delivery, "new");
        assert_script(directory, "new");
        assert_victim(place);
        directory_claim_close(&claim);
        working_directory_unref(directory);
    }
}

static void test_a_planted_script_py_is_replaced_not_followed(void **state)
{
    check_planted(*state, SCRIPT_IN_PLACE);
    check_planted(*state, SCRIPT_LAID_OVER);
}

/* The same while the run that did it is still going. */
static void test_code_always_has_a_file_to_be_laid_over(void **state)
{
    struct place *place = *state;

    for (size_t i = 0; i < ARRAY_SIZE(planted); i++) {
        struct working_directory *directory = open_new(place);
        struct directory_claim first;
        struct directory_claim second;
        struct stat status;

        open_claim(&first, directory, "old");
        plant(place, directory, planted[i]);
        open_claim(&second, directory, "new");
        assert_private_file(&second, "new");
        assert_int_equal(lstat(second.script, &status), 0);
        assert_true(S_ISREG(status.st_mode));
        assert_victim(place);
        directory_claim_close(&first);
        directory_claim_close(&second);
        assert_script(directory, "new");
        assert_victim(place);
        working_directory_unref(directory);
    }
}

static void test_a_directory_named_script_py_keeps_what_is_in_it(void **state)
{
    struct place *place = *state;
    struct working_directory *directory = open_new(place);
    struct directory_claim claim;

    shell(working_directory_path(directory), "mkdir script.py; echo data >script.py/kept");
    open_claim(&claim, directory, "code");
    shell(working_directory_path(directory), "test \"$(cat script.py.*/kept)\" = data");
    directory_claim_close(&claim);
    working_directory_unref(directory);
}

/* What a script may do to its own directory. */
static void test_a_directory_that_is_gone_or_closed_is_usable_again(void **state)
{
    static const char *const commands[] = {
        "rm script.py; rmdir ../$(basename $PWD)",
        "mv ../$(basename $PWD) ../moved",
        "d=$PWD; mv $d ../moved2; ln -s /etc $d",
        "d=$PWD; mv $d ../moved3; : >$d",
        "chmod 0 .",
        "d=$(dirname $PWD); mv $d $d-moved",
        "chmod 0 ..",
        "chmod 0 ../..",
        "rm -r $(dirname $(dirname $PWD))",
        "d=$(dirname $(dirname $PWD)); mv $d $d-moved",
    };
    struct place *place = *state;

    for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
        struct working_directory *directory = open_new(place);
        struct directory_claim claim;

        open_claim(&claim, directory, "old");
        shell(working_directory_path(directory), commands[i]);
        directory_claim_close(&claim);
        open_claim(&claim, directory, "new");
        assert_script(directory, "new");
        directory_claim_close(&claim);
        working_directory_unref(directory);
    }
    assert_int_equal(access("/etc/script.py", F_OK), -1);
}

static void test_private_files_and_the_root_stay_private_whatever_was_done_to_them(void **state)
{
    static const char *const commands[] = {"rm -r private-*", "chmod 0 private-*", "chmod 755 ."};
    struct place *place = *state;
    struct working_directory *directory = open_new(place);

    for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
        struct directory_claim first;
        struct directory_claim second;

        shell(place->root, commands[i]);
        open_claim(&first, directory, "1");
        open_claim(&second, directory, "2");
        assert_private_file(&second, "2");
        assert_int_equal(mode_of(place->root), 0700);
        directory_claim_close(&first);
        directory_claim_close(&second);
    }
    working_directory_unref(directory);
}

static void test_a_claim_without_a_script_leaves_the_one_that_is_there(void **state)
{
    struct place *place = *state;
    struct working_directory *directory = open_new(place);
    struct directory_claim first;
    struct directory_claim second;
    struct error err = ERROR_INIT;

    open_claim(&first, directory, "first");
    directory_claim_close(&first);
    assert_int_equal(directory_claim_open(&second, directory, SCRIPT_LAID_OVER, &err), 0);
    assert_null(second.script);
    assert_true(working_directory_is_busy(directory, false));
    assert_script(directory, "first");
    directory_claim_close(&second);
    assert_false(working_directory_is_busy(directory, false));
    assert_script(directory, "first");
    working_directory_unref(directory);
}

static void test_a_link_in_the_place_of_the_root_is_removed_and_not_followed(void **state)
{
    struct place *place = *state;
    struct working_directory *directory = open_new(place);
    struct directory_claim claim;

    shell(place->scratch,
          "mkdir -m 700 elsewhere; mv state/root moved; ln -s ../elsewhere state/root");
    open_claim(&claim, directory, "1");
    directory_claim_close(&claim);
    shell(place->scratch, "test -z \"$(ls -A elsewhere)\"; test -d state/root -a ! -L state/root");
    working_directory_unref(directory);
}

static void test_a_link_above_the_root_is_an_error(void **state)
{
    struct place *place = *state;
    struct working_directory *directory = open_new(place);
    struct directory_claim claim;
    struct error err = ERROR_INIT;

    shell(place->scratch, "mv state moved; mkdir -p -m 700 elsewhere/root; ln -s elsewhere state");
    assert_int_equal(directory_claim_open(&claim, directory, SCRIPT_LAID_OVER, &err), -1);
    directory_claim_close(&claim);
    shell(place->scratch, "test -z \"$(ls -A elsewhere/root)\"");
    working_directory_unref(directory);
}

static void test_a_link_on_the_way_to_the_configured_directory_is_an_error(void **state)
{
    struct place *place = *state;
    AUTO_FREE char *path = memory_format("%s/way/configured", place->scratch);
    struct workplace *workplace = open_workplace(place, path, 0);
    struct working_directory *directory = open_directory_of(workplace, "a", NULL);
    struct directory_claim claim;
    struct error err = ERROR_INIT;

    shell(place->scratch, "mv way moved; mkdir -p elsewhere/configured; ln -s elsewhere way");
    assert_int_equal(directory_claim_open(&claim, directory, SCRIPT_LAID_OVER, &err), -1);
    directory_claim_close(&claim);
    working_directory_unref(directory);
    workplace_free(workplace);
}

static void test_a_claim_that_failed_to_open_can_be_closed(void **state)
{
    struct place *place = *state;
    struct working_directory *directory = open_new(place);
    struct directory_claim claim;
    struct error err = ERROR_INIT;

    shell(place->scratch, "rm -r state; : >state"); /* nothing can be made there */
    assert_int_equal(directory_claim_open(&claim, directory, SCRIPT_LAID_OVER, &err), -1);
    directory_claim_close(&claim);
    working_directory_unref(directory);
}

/* One configured directory */

static void test_a_configured_directory_is_every_callers(void **state)
{
    struct place *place = *state;
    struct workplace *workplace = open_workplace(place, place->path, 0);
    struct working_directory *a = open_directory_of(workplace, "a", NULL);
    struct working_directory *b = open_directory_of(workplace, "b", "whatever");

    assert_ptr_equal(a, b);
    assert_string_equal(working_directory_path(a), place->path);
    working_directory_unref(a);
    working_directory_unref(b);
    workplace_free(workplace);
    assert_int_equal(access(place->path, F_OK), 0); /* never removed */
}

static void test_a_configured_directory_is_only_for_the_isolation_it_is_configured_for(void **state)
{
    struct place *place = *state;
    struct workplace *workplace = open_workplace(place, place->path, 0);
    struct working_directory *directory;
    struct error err = ERROR_INIT;
    struct error ignored = ERROR_INIT;

    assert_null(workplace_open(workplace, "a", ISOLATION_DOCKER, NULL, &err));
    assert_int_equal(err.code, ERROR_INVALID_ARGUMENTS);
    assert_non_null(strstr(err.message, "not for environments with isolation \"docker\""));
    workplace_set_isolations(workplace, 1U << ISOLATION_NONE | 1U << ISOLATION_DOCKER);
    directory = workplace_open(workplace, "a", ISOLATION_DOCKER, NULL, &ignored);
    assert_non_null(directory);
    working_directory_unref(directory);
    workplace_free(workplace);
}

/* Two programs that were started with the same configuration. */
static void lend(struct place *place, const char *script)
{
    struct error err = ERROR_INIT;

    (void)mkdir(place->path, 0700);
    if (workplace_lend(place->workplace, place->path, script, &err) < 0)
        fail_msg("%s", err.message);
}

static void test_a_run_in_a_lent_directory_leaves_nothing_and_takes_nothing(void **state)
{
    struct place *place = *state;
    AUTO_FREE char *own = memory_format("%s/script.py", place->path);
    struct working_directory *directory;
    struct directory_claim claim;

    lend(place, NULL);
    write_text(own, "the user's");
    directory = open_new(place);
    for (int delivery = SCRIPT_IN_PLACE; delivery <= SCRIPT_IN_FILE; delivery++) {
        AUTO_FREE char *text = NULL;

        open_claim_as(&claim, directory, (enum script_delivery)delivery, "print(1)");
        text = read_text(claim.script);
        assert_string_equal(text, "print(1)");
        assert_string_not_equal(claim.script, own);
        assert_int_equal(claim.file != NULL, delivery == SCRIPT_IN_FILE);
        directory_claim_close(&claim);
        assert_script(directory, "the user's");
        assert_int_equal(count_entries(place->path), 1);
    }
    working_directory_unref(directory);
}

static void test_the_users_own_script_stands_for_the_code(void **state)
{
    struct place *place = *state;
    AUTO_FREE char *own = memory_format("%s/mine.py", place->path);
    struct working_directory *directory;
    struct directory_claim claim;

    lend(place, own);
    write_text(own, "the user's");
    directory = open_new(place);
    for (int delivery = SCRIPT_IN_PLACE; delivery <= SCRIPT_IN_FILE; delivery++) {
        AUTO_FREE char *text = NULL;

        open_claim_as(&claim, directory, (enum script_delivery)delivery, "as it was read");
        assert_string_equal(claim.script, own);
        assert_int_equal(claim.file != NULL, delivery == SCRIPT_IN_FILE);
        directory_claim_close(&claim);
        text = read_text(own);
        assert_string_equal(text, "the user's");
        assert_int_equal(count_entries(place->path), 1);
    }
    working_directory_unref(directory);
}

static void test_a_lent_directory_is_for_every_isolation_and_must_be_there(void **state)
{
    struct place *place = *state;
    struct working_directory *directory;
    struct error err = ERROR_INIT;

    assert_int_equal(workplace_lend(place->workplace, place->path, NULL, &err), -1);
    assert_int_equal(access(place->path, F_OK), -1);
    error_clear(&err);
    assert_int_equal(workplace_lend(place->workplace, "/", NULL, &err), -1);
    error_clear(&err);
    lend(place, NULL);
    directory = workplace_open(place->workplace, "tester", ISOLATION_DOCKER, NULL, &err);
    assert_non_null(directory);
    working_directory_unref(directory);
}

static void test_servers_that_share_a_directory_do_not_rename_under_each_other(void **state)
{
    struct place *place = *state;
    struct workplace *one = open_workplace(place, place->path, 3600);
    struct workplace *two = open_workplace(place, place->path, 3600);
    struct working_directory *a = open_directory_of(one, "x", NULL);
    struct working_directory *b = open_directory_of(two, "x", NULL);
    struct directory_claim first;
    struct directory_claim second;
    struct directory_claim third;

    open_claim(&first, a, "first");
    open_claim(&second, b, "second");
    assert_script(a, "first");
    directory_claim_close(&first);
    assert_script(a, "first");
    open_claim(&third, a, "third");
    assert_script(a, "first");
    directory_claim_close(&second);
    directory_claim_close(&third);
    assert_script(a, "third");
    open_claim(&first, b, "alone");
    assert_script(a, "alone");
    directory_claim_close(&first);
    working_directory_unref(a);
    working_directory_unref(b);
    workplace_free(one);
    workplace_free(two);
}

/* Who executes script.py itself shares the directory with nobody. */
static void test_servers_do_not_share_a_directory_whose_script_py_is_executed(void **state)
{
    struct place *place = *state;
    struct workplace *one = open_workplace(place, place->path, 3600);
    struct workplace *two = open_workplace(place, place->path, 3600);
    struct working_directory *a = open_directory_of(one, "x", NULL);
    struct working_directory *b = open_directory_of(two, "x", NULL);
    struct error late = ERROR_INIT;
    struct error early = ERROR_INIT;
    struct directory_claim first;
    struct directory_claim second;

    open_claim_as(&first, a, SCRIPT_IN_PLACE, "first");
    assert_int_equal(directory_claim_open(&second, b, SCRIPT_LAID_OVER, &late), -1);
    assert_int_equal(late.code, ERROR_BUSY);
    directory_claim_close(&first);
    open_claim_as(&first, a, SCRIPT_LAID_OVER, "first");
    assert_int_equal(directory_claim_open(&second, b, SCRIPT_IN_PLACE, &early), 0);
    assert_int_equal(directory_claim_write(&second, "second", 6, &early), -1);
    assert_int_equal(early.code, ERROR_BUSY);
    assert_script(a, "first");
    directory_claim_close(&second);
    directory_claim_close(&first);
    working_directory_unref(a);
    working_directory_unref(b);
    workplace_free(one);
    workplace_free(two);
}

/* Another server, at the moment when it puts a script there. */
static void *hold_lock(void *data)
{
    const struct timespec moment = {.tv_nsec = 300 * 1000};
    int *fd = data;

    nanosleep(&moment, NULL);
    close(*fd);
    return NULL;
}

static bool is_waited_for(struct workplace *workplace, const char *path, const char *handle)
{
    struct error err = ERROR_INIT;
    struct working_directory *directory;
    int fd = open_directory(path);
    pthread_t holder;

    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
    assert_int_equal(pthread_create(&holder, NULL, hold_lock, &fd), 0);
    directory = workplace_open(workplace, "tester", ISOLATION_NONE, handle, &err);
    assert_int_equal(pthread_join(holder, NULL), 0);
    if (directory)
        working_directory_unref(directory);
    return directory;
}

/* On a busy machine the moment may be too long. */
static void test_the_moment_of_another_servers_lock_is_waited_for(void **state)
{
    struct place *place = *state;
    struct workplace *other = open_workplace(place, NULL, 3600);
    struct working_directory *directory = open_new(place);
    AUTO_FREE char *path = memory_copy_string(working_directory_path(directory));
    AUTO_FREE char *handle = memory_copy_string(working_directory_handle(directory));
    bool was = false;

    working_directory_unref(directory);
    for (int i = 0; i < 50 && !was; i++)
        was = is_waited_for(other, path, handle);
    workplace_free(other);
    assert_true(was);
}

static void test_a_path_that_cannot_be_worked_in_is_an_error(void **state)
{
    struct place *place = *state;
    AUTO_FREE char *file = memory_format("%s/file", place->scratch);
    AUTO_FREE char *below = memory_format("%s/below", file);
    struct error err = ERROR_INIT;

    write_text(file, "");
    assert_null(workplace_new(
        &(struct workplace_settings){.loop = place->loop, .root = place->root, .path = below},
        &err));
    assert_non_null(strstr(err.message, file));
}

/* Sweeping */

static void set_age(const char *path, double seconds)
{
    struct timespec times[2] = {0};

    clock_gettime(CLOCK_REALTIME, &times[1]);
    times[1].tv_sec -= (time_t)seconds;
    times[0] = times[1];
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Closes DIRECTORY and makes it look as if it had been used SECONDS ago. Its path, owned. */
static char *abandon(struct working_directory *directory, double seconds)
{
    char *path = memory_copy_string(working_directory_path(directory));

    working_directory_unref(directory);
    set_age(path, seconds);
    return path;
}

static void restart(struct place *place)
{
    workplace_free(place->workplace);
    place->workplace = open_workplace(place, NULL, 3600);
    run_for(place, SWEEP_SECONDS);
}

static void test_a_sweep_takes_what_is_old_and_leaves_what_is_not(void **state)
{
    struct place *place = *state;
    struct working_directory *used = open_new(place);
    AUTO_FREE char *old = abandon(open_new(place), 3700);
    AUTO_FREE char *young = abandon(open_new(place), 3500);
    AUTO_FREE char *bare = abandon(open_new(place), 601);
    AUTO_FREE char *young_and_bare = abandon(open_new(place), 500);
    struct workplace *other = open_workplace(place, NULL, 3600);

    set_age(working_directory_path(used), 9999); /* old, but somebody's */
    shell(old, "mkdir -p a/b; touch a/b/c; ln -s /etc passwd; chmod 0 a/b a .");
    set_age(old, 3700);
    shell(young, "touch script.py file");
    set_age(young, 3500);
    shell(bare, "touch script.py");
    set_age(bare, 601);
    run_for(place, SWEEP_SECONDS);
    assert_int_equal(access(old, F_OK), -1);
    assert_int_equal(access(young, F_OK), 0);
    assert_int_equal(access(bare, F_OK), -1);
    assert_int_equal(access(young_and_bare, F_OK), 0);
    assert_int_equal(access(working_directory_path(used), F_OK), 0);
    shell(place->root, "test -z \"$(ls trash)\"");
    workplace_free(other);
    working_directory_unref(used);
}

static void test_the_trash_is_a_directory_whatever_was_put_there(void **state)
{
    struct place *place = *state;
    AUTO_FREE char *old = abandon(open_new(place), 3700);

    shell(place->root, "rm -rf trash; ln -s /tmp trash");
    run_for(place, SWEEP_SECONDS);
    assert_int_equal(access(old, F_OK), -1);
}

static void test_a_time_in_the_future_keeps_nothing_for_ever(void **state)
{
    struct place *place = *state;
    AUTO_FREE char *path = abandon(open_new(place), -1000000);
    struct stat status;
    struct timespec now;

    restart(place);
    clock_gettime(CLOCK_REALTIME, &now);
    assert_int_equal(stat(path, &status), 0);
    assert_true(status.st_mtim.tv_sec <= now.tv_sec);
}

static void test_a_principals_empty_folder_goes_too(void **state)
{
    struct place *place = *state;
    AUTO_FREE char *path = abandon(open_new(place), 3700);
    AUTO_FREE char *folder = memory_format("%s/p-none-tester", place->root);

    restart(place);
    assert_int_equal(access(path, F_OK), -1);
    restart(place);
    assert_int_equal(access(folder, F_OK), -1);
}

static void test_private_files_of_a_dead_server_are_swept(void **state)
{
    struct place *place = *state;

    shell(place->root, "mkdir private-0123456789abcdef; echo code >private-0123456789abcdef/x");
    restart(place);
    shell(place->root, "test $(ls -d private-* | wc -l) = 1; test -z \"$(ls private-*)\"");
}

static void test_what_is_kept_for_no_time_goes_at_once(void **state)
{
    struct place *place = *state;
    struct workplace *workplace = open_workplace(place, NULL, 0);
    struct working_directory *directory = open_directory_of(workplace, "tester", NULL);
    AUTO_FREE char *path = memory_copy_string(working_directory_path(directory));

    shell(path, "mkdir -p a/b; touch a/b/c");
    working_directory_unref(directory);
    assert_int_equal(access(path, F_OK), -1);
    workplace_free(workplace);
    shell(place->root, "test -z \"$(ls trash)\"");
}

static void test_a_sweep_does_not_keep_the_loop_alive(void **state)
{
    struct place *place = *state;

    alarm(5);
    ev_run(place->loop, 0); /* ends, as nothing else is in it */
    alarm(0);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_root_is_private),
        TEST(test_a_root_open_to_others_is_refused),
        TEST(test_nothing_of_a_server_is_left_but_directories),
        TEST(test_directories_are_private_and_have_unguessable_handles),
        TEST(test_a_handle_opens_the_same_directory_again),
        TEST(test_a_handle_is_nobody_elses_and_nothing_else),
        TEST(test_no_principal_leads_out_of_the_root),
        TEST(test_a_directory_is_for_runs_of_its_isolation),
        TEST(test_a_run_alone_has_its_code_in_script_py),
        TEST(test_who_asks_for_a_private_file_gets_the_code_in_one),
        TEST(test_overlapping_runs_leave_script_py_alone),
        TEST(test_script_py_stays_the_same_file_from_call_to_call),
        TEST(test_busy_means_that_a_run_would_have_to_wait),
        TEST(test_a_planted_script_py_is_replaced_not_followed),
        TEST(test_code_always_has_a_file_to_be_laid_over),
        TEST(test_a_directory_named_script_py_keeps_what_is_in_it),
        TEST(test_a_directory_that_is_gone_or_closed_is_usable_again),
        TEST(test_private_files_and_the_root_stay_private_whatever_was_done_to_them),
        TEST(test_a_claim_without_a_script_leaves_the_one_that_is_there),
        TEST(test_a_link_in_the_place_of_the_root_is_removed_and_not_followed),
        TEST(test_a_link_above_the_root_is_an_error),
        TEST(test_a_link_on_the_way_to_the_configured_directory_is_an_error),
        TEST(test_a_claim_that_failed_to_open_can_be_closed),
        TEST(test_a_configured_directory_is_every_callers),
        TEST(test_a_configured_directory_is_only_for_the_isolation_it_is_configured_for),
        TEST(test_a_run_in_a_lent_directory_leaves_nothing_and_takes_nothing),
        TEST(test_the_users_own_script_stands_for_the_code),
        TEST(test_a_lent_directory_is_for_every_isolation_and_must_be_there),
        TEST(test_servers_that_share_a_directory_do_not_rename_under_each_other),
        TEST(test_servers_do_not_share_a_directory_whose_script_py_is_executed),
        TEST(test_the_moment_of_another_servers_lock_is_waited_for),
        TEST(test_a_path_that_cannot_be_worked_in_is_an_error),
        TEST(test_a_sweep_takes_what_is_old_and_leaves_what_is_not),
        TEST(test_the_trash_is_a_directory_whatever_was_put_there),
        TEST(test_a_time_in_the_future_keeps_nothing_for_ever),
        TEST(test_a_principals_empty_folder_goes_too),
        TEST(test_private_files_of_a_dead_server_are_swept),
        TEST(test_what_is_kept_for_no_time_goes_at_once),
        TEST(test_a_sweep_does_not_keep_the_loop_alive),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
