#include "environments/docker/volume.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "tests/unit/environments/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fixture {
    char *scratch;
    char *socket;
    char *state;
    struct docker_guarded guarded;
};

static int set_up(void **state)
{
    struct fixture *fixture = NEW(struct fixture);

    fixture->scratch = scratch_new();
    shell(fixture->scratch,
          "mkdir -p data/in engine/below state/server outside; echo x > file; mkfifo pipe;"
          " ln -s data link; ln -s engine to-engine; ln -s engine/docker.sock to-socket;"
          " ln -s nowhere dangling; ln -s / root;"
          " /usr/bin/python3 -c \"import socket;"
          " [socket.socket(socket.AF_UNIX).bind(n) for n in ('engine/docker.sock', 'a.sock')]\"");
    fixture->socket = memory_format("%s/engine/docker.sock", fixture->scratch);
    fixture->state = memory_format("%s/state", fixture->scratch);
    fixture->guarded = (struct docker_guarded){fixture->socket, fixture->state};
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    scratch_free(fixture->scratch);
    free(fixture->socket);
    free(fixture->state);
    free(fixture);
    return 0;
}

static void expect_path(const struct fixture *fixture, const char *name, const char *real)
{
    AUTO_FREE char *path = memory_format("%s/%s", fixture->scratch, name);
    AUTO_FREE char *wanted = memory_format("%s/%s", fixture->scratch, real);
    struct error err = ERROR_INIT;
    AUTO_FREE char *resolved = docker_volume_resolve(path, &fixture->guarded, &err);

    if (!resolved)
        fail_msg("%s: %s", name, err.message);
    assert_string_equal(resolved, wanted);
}

static void expect_refusal(const struct fixture *fixture, const char *path, const char *reason)
{
    AUTO_FREE char *whole =
        *path == '/' ? memory_copy_string(path) : memory_format("%s/%s", fixture->scratch, path);
    struct error err = ERROR_INIT;
    AUTO_FREE char *resolved = docker_volume_resolve(whole, &fixture->guarded, &err);

    if (resolved)
        fail_msg("%s is allowed", path);
    if (!strstr(err.message, reason))
        fail_msg("%s: \"%s\" does not say \"%s\"", path, err.message, reason);
}

static void test_links_are_followed(void **state)
{
    expect_path(*state, "data", "data");
    expect_path(*state, "link/in", "data/in");
    expect_path(*state, "data/../file", "file");
}

static void test_what_is_not_there_is_refused(void **state)
{
    expect_refusal(*state, "nothing", "No such file");
    expect_refusal(*state, "dangling", "No such file");
    expect_refusal(*state, "file/in", "Not a directory");
}

static void test_the_engine_is_out_of_reach(void **state)
{
    expect_refusal(*state, "engine/docker.sock", "is the engine's socket");
    expect_refusal(*state, "to-socket", "is the engine's socket");
    expect_refusal(*state, "engine", "holds the engine's socket");
    expect_refusal(*state, "to-engine", "holds the engine's socket");
    expect_refusal(*state, "data/../engine", "holds the engine's socket");
    expect_refusal(*state, ".", "holds the engine's socket");
    expect_path(*state, "engine/below", "engine/below");
}

static void test_the_servers_state_is_out_of_reach(void **state)
{
    expect_refusal(*state, "state", "is the server's own state");
    expect_refusal(*state, "state/server", "lies in the server's own state");
}

static void test_the_system_is_out_of_reach(void **state)
{
    static const char *const paths[] = {"/",          "/etc",     "/etc/passwd",  "/proc",
                                        "/proc/self", "/sys",     "/dev/shm",     "/dev",
                                        "/run",       "/var/run", "/var/../proc", "//etc"};

    for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
        expect_refusal(*state, paths[i], "which containers never get");
    expect_refusal(*state, "root", "which containers never get");
    expect_refusal(*state, "root/etc", "which containers never get");
}

static void test_only_files_and_directories_are_mounted(void **state)
{
    expect_refusal(*state, "a.sock", "is a socket");
    expect_refusal(*state, "pipe", "neither a file nor a directory");
    expect_path(*state, "file", "file");
}

static void test_targets(void **state)
{
    static const struct {
        const char *target;
        bool is_allowed;
    } cases[] = {
        {"/data", true},
        {"/srv/data", true},
        {"/workspaces", true},
        {"/", false},
        {"//", false},
        {"/./", false},
        {"/workspace", false},
        {"/workspace/x", false},
        {"/proc/x", false},
        {"/run", false},
        {"/run/x", false},
        {"/dev", false},
        {"/workspace/", false},
        {"//proc", false},
        {"/./proc", false},
        {"/x/.", false},
        {"/.pyexecd-init", false},
        {"/.pyexecd-streams/x", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct error err = ERROR_INIT;

        if ((docker_volume_check_target(cases[i].target, &err) == 0) != cases[i].is_allowed)
            fail_msg("%s", cases[i].target);
    }
}

static void test_both_forms_are_read(void **state)
{
    AUTO_JSON json_t *whole = json_pack("{s:s, s:s}", "path", "/b", "mode", "rw");
    AUTO_JSON json_t *short_form = json_string("/c");
    const struct docker_volume writable = docker_volume_read("/a", whole);
    const struct docker_volume readable = docker_volume_read("/a", short_form);

    (void)state;
    assert_string_equal(writable.path, "/a");
    assert_string_equal(writable.target, "/b");
    assert_true(writable.is_writable);
    assert_string_equal(readable.target, "/c");
    assert_false(readable.is_writable);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_links_are_followed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_not_there_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_engine_is_out_of_reach, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_servers_state_is_out_of_reach, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_system_is_out_of_reach, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_only_files_and_directories_are_mounted, set_up,
                                        tear_down),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_both_forms_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
