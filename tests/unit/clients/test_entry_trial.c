#include "server/clients/entry_trial.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define ANSWER "echo '{\"result\": {\"serverInfo\": {}}}'"

static int try_script(const char *script, struct error *err)
{
    json_t *command = json_pack("[s, s, s]", "/bin/sh", "-c", script);
    int ret = entry_trial_run(command, err);

    json_decref(command);
    return ret;
}

static void test_a_server_that_answers_is_ended(void **state)
{
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(try_script("read line; " ANSWER "; exec sleep 1000", &err), 0);
}

static void test_a_server_that_does_not_listen_to_signals_is_ended(void **state)
{
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(
        try_script("trap '' TERM; read line; " ANSWER "; while :; do sleep 1; done", &err), 0);
}

static void test_what_ends_without_an_answer_is_an_error(void **state)
{
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(try_script("read line; echo {}", &err), -1);
    assert_int_equal(err.code, ERROR_UNAVAILABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_server_that_answers_is_ended),
        cmocka_unit_test(test_a_server_that_does_not_listen_to_signals_is_ended),
        cmocka_unit_test(test_what_ends_without_an_answer_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
