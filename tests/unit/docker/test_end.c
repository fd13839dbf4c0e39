#include "environments/docker/end.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

static void test_the_inits_words_are_believed(void **state)
{
    const struct docker_observation seen = {.exit_code = 0, .seconds = 2, .failure = ""};
    const struct last_words words = {
        .status = 9, .run_seconds = 1.5, .cpu_seconds = 0.25, .peak_bytes = 4096};
    struct process_end end = docker_end(&seen, &words, "python3");

    (void)state;
    assert_true(!end.out_of_memory && !end.survivors);
    assert_int_equal(end.returncode, -9);
    assert_true(end.run_seconds == 1.5 && end.start_seconds == 0.5 && end.cpu_seconds == 0.25);
    assert_int_equal(end.peak_memory, 4096);
    assert_string_equal(end.failure, "");
}

static void test_the_end_says_that_a_container_held_it(void **state)
{
    struct process_end end = docker_end(&(struct docker_observation){.failure = ""}, NULL, "p");

    (void)state;
    assert_int_equal(process_receipt_isolation(&end.receipt), ISOLATION_DOCKER);
    assert_string_equal(process_receipt_tree(&end.receipt), "container");
    assert_string_equal(process_limiter_name(end.receipt.limiter), "container");
}

/* A connection that broke behind the last words is no failure of the script. */
static void test_words_weigh_more_than_a_failure_of_the_engine(void **state)
{
    const struct docker_observation seen = {.failure = "the engine has gone"};
    const struct last_words words = {.status = 0};
    struct process_end end = docker_end(&seen, &words, "python3");

    (void)state;
    assert_int_equal(end.returncode, 0);
    assert_string_equal(end.failure, "");
}

static void test_memory_is_known_by_either(void **state)
{
    const struct last_words words = {.status = 9, .flags = LAST_WORDS_OUT_OF_MEMORY};
    const struct last_words silent = {.status = 9};

    (void)state;
    assert_true(docker_end(&(struct docker_observation){.failure = ""}, &words, "p").out_of_memory);
    assert_true(
        docker_end(&(struct docker_observation){.failure = "", .out_of_memory = true}, &silent, "p")
            .out_of_memory);
}

static void test_a_python_that_cannot_be_executed_is_a_failure(void **state)
{
    const struct docker_observation seen = {.failure = "", .exit_code = 127};
    const struct last_words words = {.failure = ENOENT};
    struct process_end end = docker_end(&seen, &words, "python3");

    (void)state;
    assert_string_equal(end.failure,
                        "cannot execute python3 in the container: No such file or directory");
}

static void test_without_words_the_engine_is_asked(void **state)
{
    struct process_end end;

    (void)state;
    end = docker_end(&(struct docker_observation){.failure = "", .exit_code = 137}, NULL, "p");
    assert_true(end.returncode == -9 && !end.failure[0]);
    end = docker_end(&(struct docker_observation){.failure = "", .exit_code = 137, .killed = true},
                     NULL, "p");
    assert_true(end.returncode == -9 && !end.failure[0]);
    end = docker_end(&(struct docker_observation){.failure = "no engine"}, NULL, "p");
    assert_string_equal(end.failure, "no engine");
    end = docker_end(&(struct docker_observation){.failure = "", .exit_code = 71}, NULL, "p");
    assert_non_null(strstr(end.failure, "exit code 71"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_inits_words_are_believed),
        cmocka_unit_test(test_the_end_says_that_a_container_held_it),
        cmocka_unit_test(test_words_weigh_more_than_a_failure_of_the_engine),
        cmocka_unit_test(test_memory_is_known_by_either),
        cmocka_unit_test(test_a_python_that_cannot_be_executed_is_a_failure),
        cmocka_unit_test(test_without_words_the_engine_is_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
