#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/workplace/working_directory.h"
#include "tests/unit/environments/scratch.h"
#include "tests/unit/workplace/site.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#define SWEEP_SECONDS 1.5 /* far longer than a sweep of a few directories takes */

static void on_break(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)timer;
    (void)events;
    ev_break(loop, EVBREAK_ALL);
}

static void run_for(struct site *site, double seconds)
{
    ev_timer timer;

    ev_now_update(site->loop);
    ev_timer_init(&timer, on_break, seconds, 0.);
    ev_timer_start(site->loop, &timer);
    ev_run(site->loop, 0);
    ev_timer_stop(site->loop, &timer);
}

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

static void restart(struct site *site)
{
    workplace_free(site->workplace);
    site->workplace = site_open_workplace(site, NULL, 3600);
    run_for(site, SWEEP_SECONDS);
}

static void test_a_sweep_takes_what_is_old_and_leaves_what_is_not(void **state)
{
    struct site *site = *state;
    struct working_directory *used = site_open_directory(site);
    AUTO_FREE char *old = abandon(site_open_directory(site), 3700);
    AUTO_FREE char *young = abandon(site_open_directory(site), 3500);
    AUTO_FREE char *bare = abandon(site_open_directory(site), 601);
    AUTO_FREE char *young_and_bare = abandon(site_open_directory(site), 500);
    struct workplace *other = site_open_workplace(site, NULL, 3600);

    set_age(working_directory_path(used), 9999); /* old, but somebody's */
    shell(old, "mkdir -p a/b; touch a/b/c; ln -s /etc passwd; chmod 0 a/b a .");
    set_age(old, 3700);
    shell(young, "touch script.py file");
    set_age(young, 3500);
    shell(bare, "touch script.py");
    set_age(bare, 601);
    run_for(site, SWEEP_SECONDS);
    assert_int_equal(access(old, F_OK), -1);
    assert_int_equal(access(young, F_OK), 0);
    assert_int_equal(access(bare, F_OK), -1);
    assert_int_equal(access(young_and_bare, F_OK), 0);
    assert_int_equal(access(working_directory_path(used), F_OK), 0);
    shell(site->root, "test -z \"$(ls trash)\"");
    workplace_free(other);
    working_directory_unref(used);
}

static void test_the_trash_is_a_directory_whatever_was_put_there(void **state)
{
    struct site *site = *state;
    AUTO_FREE char *old = abandon(site_open_directory(site), 3700);

    shell(site->root, "rm -rf trash; ln -s /tmp trash");
    run_for(site, SWEEP_SECONDS);
    assert_int_equal(access(old, F_OK), -1);
}

static void test_a_time_in_the_future_keeps_nothing_for_ever(void **state)
{
    struct site *site = *state;
    AUTO_FREE char *path = abandon(site_open_directory(site), -1000000);
    struct stat status;
    struct timespec now;

    restart(site);
    clock_gettime(CLOCK_REALTIME, &now);
    assert_int_equal(stat(path, &status), 0);
    assert_true(status.st_mtim.tv_sec <= now.tv_sec);
}

static void test_a_principals_empty_folder_goes_too(void **state)
{
    struct site *site = *state;
    AUTO_FREE char *path = abandon(site_open_directory(site), 3700);
    AUTO_FREE char *folder = memory_format("%s/p-none-tester", site->root);

    restart(site);
    assert_int_equal(access(path, F_OK), -1);
    restart(site);
    assert_int_equal(access(folder, F_OK), -1);
}

static void test_private_files_of_a_dead_server_are_swept(void **state)
{
    struct site *site = *state;

    shell(site->root, "mkdir private-0123456789abcdef; echo code >private-0123456789abcdef/x");
    restart(site);
    shell(site->root, "test $(ls -d private-* | wc -l) = 1; test -z \"$(ls private-*)\"");
}

/* They prove to nodes that they have the same files. A server that is killed leaves them. */
static void test_files_for_nodes_of_a_dead_server_are_swept(void **state)
{
    static const char make[] =
        "old=.pyexecd-0123456789abcdef0123456789abcdef; mkdir ${old%f}e; touch ${old%f}d "
        ".pyexecd-notes $old; touch -d '2 minutes ago' $old ${old%f}e .pyexecd-notes";
    static const char look[] = "test \"$(ls -A | grep -c pyexecd-)\" = 3; test -d "
                               ".pyexecd-0123456789abcdef0123456789abcdee";
    struct site *site = *state;
    struct workplace *configured = site_open_workplace(site, site->path, 3600);

    shell(site->root, make);
    shell(site->path, make);
    run_for(site, SWEEP_SECONDS);
    workplace_free(configured);
    restart(site);
    shell(site->root, look);
    shell(site->path, look);
}

static void test_what_is_kept_for_no_time_goes_at_once(void **state)
{
    struct site *site = *state;
    struct workplace *workplace = site_open_workplace(site, NULL, 0);
    struct working_directory *directory = open_directory_of(workplace, "tester", NULL);
    AUTO_FREE char *path = memory_copy_string(working_directory_path(directory));

    shell(path, "mkdir -p a/b; touch a/b/c");
    working_directory_unref(directory);
    assert_int_equal(access(path, F_OK), -1);
    workplace_free(workplace);
    shell(site->root, "test -z \"$(ls trash)\"");
}

static void test_a_sweep_does_not_keep_the_loop_alive(void **state)
{
    struct site *site = *state;

    alarm(100);
    ev_run(site->loop, 0); /* ends, as nothing else is in it */
    alarm(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SITE_TEST(test_a_sweep_takes_what_is_old_and_leaves_what_is_not),
        SITE_TEST(test_the_trash_is_a_directory_whatever_was_put_there),
        SITE_TEST(test_a_time_in_the_future_keeps_nothing_for_ever),
        SITE_TEST(test_a_principals_empty_folder_goes_too),
        SITE_TEST(test_private_files_of_a_dead_server_are_swept),
        SITE_TEST(test_files_for_nodes_of_a_dead_server_are_swept),
        SITE_TEST(test_what_is_kept_for_no_time_goes_at_once),
        SITE_TEST(test_a_sweep_does_not_keep_the_loop_alive),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
