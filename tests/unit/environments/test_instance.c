#include "environments/instance.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "impostor.h"
#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static int set_up(void **state)
{
    *state = scratch_new();
    return 0;
}

static int tear_down(void **state)
{
    scratch_free(*state);
    return 0;
}

static struct instance *open_instance(const char *state)
{
    struct error err = ERROR_INIT;
    struct instance *instance = instance_new(state, &err);

    if (!instance)
        fail_msg("%s", err.message);
    return instance;
}

static void test_servers_of_one_state_directory_know_each_other(void **state)
{
    struct instance *a = open_instance(*state);
    struct instance *b = open_instance(*state);
    AUTO_FREE char *name = memory_copy_string(instance_name(a));

    assert_string_equal(instance_state_name(a), instance_state_name(b));
    assert_string_not_equal(instance_name(a), instance_name(b));
    assert_true(instance_is_alive(b, name));
    assert_true(instance_is_alive(a, name));
    instance_free(a);
    assert_false(instance_is_alive(b, name));
    instance_free(b);
}

static void test_another_state_directory_has_another_name(void **state)
{
    char *other = scratch_new();
    struct instance *a = open_instance(*state);
    struct instance *b = open_instance(other);

    assert_string_not_equal(instance_state_name(a), instance_state_name(b));
    assert_false(instance_is_alive(b, instance_name(a)));
    instance_free(a);
    instance_free(b);
    scratch_free(other);
}

static void test_the_identity_outlives_the_server(void **state)
{
    struct instance *a = open_instance(*state);
    AUTO_FREE char *name = memory_copy_string(instance_state_name(a));

    instance_free(a);
    a = open_instance(*state);
    assert_string_equal(instance_state_name(a), name);
    instance_free(a);
}

/* A server that is killed leaves its file, but not its lock. */
static void test_a_killed_server_is_dead_and_its_file_is_removed(void **state)
{
    char name[33] = "";
    AUTO_FREE char *file = NULL;
    int channel[2];
    struct instance *later;
    pid_t child;

    assert_int_equal(pipe(channel), 0);
    child = fork();
    if (child == 0) {
        struct instance *instance = open_instance(*state);

        (void)!write(channel[1], instance_name(instance), 32);
        _exit(0);
    }
    assert_int_equal(read(channel[0], name, 32), 32);
    assert_int_equal(waitpid(child, NULL, 0), child);
    file = memory_format("%s/servers/%s", (char *)*state, name);
    assert_int_equal(access(file, F_OK), 0);
    later = open_instance(*state);
    assert_false(instance_is_alive(later, name));
    assert_int_equal(access(file, F_OK), -1);
    instance_free(later);
    close(channel[0]);
    close(channel[1]);
}

static void test_what_is_no_name_is_not_alive(void **state)
{
    static const char *const names[] = {"", "..", "../identity", "0123"};
    struct instance *instance = open_instance(*state);

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        assert_false(instance_is_alive(instance, names[i]));
    instance_free(instance);
}

static void test_a_broken_identity_is_refused(void **state)
{
    AUTO_FREE char *path = memory_format("%s/identity", (char *)*state);
    FILE *file = fopen(path, "w");
    struct error err = ERROR_INIT;

    assert_non_null(file);
    fputs("short", file);
    fclose(file);
    assert_null(instance_new(*state, &err));
    assert_non_null(strstr(err.message, "does not hold"));
}

/* Scripts of the server's own user reach it. */
static void test_what_is_no_file_is_no_identity(void **state)
{
    AUTO_FREE char *path = memory_format("%s/identity", (char *)*state);
    AUTO_FREE char *target = memory_format("%s/target", (char *)*state);

    write_text(target, "0123456789abcdef0123456789abcdef");
    for (unsigned i = 0; i < IMPOSTORS; i++) {
        const char *name = impostor_put(i, path, target);
        struct error err = ERROR_INIT;

        if (instance_new(*state, &err))
            fail_msg("%s was taken for the identity", name);
        assert_non_null(strstr(err.message, path));
        impostor_remove(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_servers_of_one_state_directory_know_each_other, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_another_state_directory_has_another_name, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_the_identity_outlives_the_server, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_killed_server_is_dead_and_its_file_is_removed,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_no_name_is_not_alive, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_broken_identity_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_no_file_is_no_identity, set_up, tear_down),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
