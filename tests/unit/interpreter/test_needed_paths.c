/* What a sandbox shows of the paths that Pythons use: those of every usual way to install one, and
 * those that a hostile one would name. */
#include "environments/interpreter/needed_paths.h"

#include "base/list.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { PATHS = 12 };

#define STATE "/home/alice/.local/state/pyexecd"
#define UV    "/home/alice/.local/share/uv/python/cpython-3.12"

static const char *const homes[] = {
    "/root",       "/home/alice",          "/home/alice2", "/srv/people/bob", "/", "/usr/sbin",
    "/var/lib/db", "/opt/service/account", NULL,
};

/* A path that ends with "@" is a link or a file. */
static const struct {
    const char *what;
    const char *paths[PATHS];
    const char *shown[PATHS];
} cases[] = {
    {"nothing", {NULL}, {NULL}},
    {"Debian's",
     {"/usr", "/usr/lib/python3.11", "/usr/lib/x86_64-linux-gnu", "/usr/bin/python3@"},
     {NULL}},
    {"one below /usr/local", {"/usr/local", "/usr/local/lib/python3.13"}, {NULL}},
    {"the system's links", {"/bin@", "/lib64@", "/lib/x86_64-linux-gnu", "/usr"}, {NULL}},
    {"names that begin alike",
     {"/usr2/python", "/library/python", "/etcetera/python"},
     {"/etcetera/python", "/library/python", "/usr2/python"}},
    {"pyenv's",
     {"/home/alice/.pyenv/versions/3.11.7", "/home/alice/.pyenv/versions/3.11.7/lib/python3.11"},
     {"/home/alice/.pyenv/versions/3.11.7"}},
    {"asdf's",
     {"/home/alice/.asdf/installs/python/3.12.1/lib", "/home/alice/.asdf/installs/python/3.12.1"},
     {"/home/alice/.asdf/installs/python/3.12.1"}},
    {"conda's with an environment",
     {"/home/alice/miniconda3/envs/x", "/home/alice/miniconda3/envs/x/lib"},
     {"/home/alice/miniconda3/envs/x"}},
    {"conda's in /opt", {"/opt/conda", "/opt/conda/lib/python3.12"}, {"/opt/conda"}},
    {"uv's, found by a link",
     {"/home/alice/.local/bin/python3.12@", UV "-linux@", UV ".11-linux/bin/python3.12@",
      UV ".11-linux", UV ".11-linux/lib/python3.12"},
     {"/home/alice/.local/bin/python3.12", UV "-linux", UV ".11-linux"}},
    {"a venv of a project with its base",
     {"/home/alice/project/.venv/pyvenv.cfg@", "/home/alice/project/.venv",
      "/home/alice/project/.venv/bin/python@", "/home/alice/project/.venv/bin", UV},
     {UV, "/home/alice/project/.venv"}},
    {"a venv in the state directory",
     {STATE "/venvs/0123", STATE "/venvs/0123/bin/python@"},
     {STATE "/venvs/0123"}},
    {"a venv below /tmp", {"/tmp/work/venv", "/tmp/work/venv/lib"}, {"/tmp/work/venv"}},
    {"a venv in the root of a container",
     {"/venv", "/venv/pyvenv.cfg@", "/venv/bin", "/venv/bin/python@", "/venv/lib", "/venv/lib64@"},
     {"/venv/bin", "/venv/lib", "/venv/lib64", "/venv/pyvenv.cfg"}},
    {"one that was installed straight into a home",
     {"/home/alice", "/home/alice/lib/python3.12", "/home/alice/lib/python3.12/lib-dynload",
      "/home/alice/include/python3.12", "/home/alice/bin", "/home/alice/bin/python3.12@"},
     {"/home/alice/bin", "/home/alice/include/python3.12", "/home/alice/lib/python3.12"}},
    {"one that was installed into ~/.local",
     {"/home/alice/.local", "/home/alice/.local/lib/python3.12", "/home/alice/.local/bin"},
     {"/home/alice/.local/bin", "/home/alice/.local/lib/python3.12"}},
    {"one in the home of a service",
     {"/opt/service", "/opt/service/account", "/opt/service/account/lib/python3.12"},
     {"/opt/service/account/lib/python3.12"}},
    {"one beside a home", {"/opt/service/python"}, {"/opt/service/python"}},
    {"a library from elsewhere",
     {"/opt/custom/python", "/opt/openssl/lib", "/opt/openssl/lib"},
     {"/opt/custom/python", "/opt/openssl/lib"}},
    {"Nix's",
     {"/run/current-system@", "/nix/store/aaa-python3", "/nix/store/bbb-zlib/lib"},
     {"/nix/store/aaa-python3", "/nix/store/bbb-zlib/lib"}},
    {"a link in a directory that is shown, and one that is not",
     {"/opt/python/bin/python@", "/opt/python", "/opt/current@"},
     {"/opt/current", "/opt/python"}},
    {"a file beside a link's name", {"/opt/a@", "/opt/a/b"}, {"/opt/a", "/opt/a/b"}},
    {"names that are part of another",
     {"/opt/python", "/opt/python-3", "/opt/python/lib"},
     {"/opt/python", "/opt/python-3"}},
    {"the same twice", {"/opt/python", "/opt/python"}, {"/opt/python"}},
    {"the root and what is in it", {"/", "/opt", "/home", "/data", "/tmp", "/mnt", "/var"}, {NULL}},
    {"homes",
     {"/root", "/home/alice", "/home/alice2", "/srv/people/bob", "/home/unlisted"},
     {NULL}},
    {"what holds homes", {"/srv/people", "/srv", "/var/lib"}, {NULL}},
    {"what is in every home",
     {"/home/alice/.local", "/home/alice/.config", "/home/alice/.cache",
      "/home/alice2/.local/share", "/srv/people/bob/.local/state"},
     {NULL}},
    {"the state directory and what is beside the venvs",
     {STATE, STATE "/venvs", STATE "/directories", STATE "/directories/other", STATE "/pythons",
      STATE "/venvsx/a", "/home/alice/.local/state"},
     {NULL}},
    {"what holds temporary files of everybody", {"/tmp", "/var/tmp", "/dev/shm"}, {NULL}},
    {"what is in these",
     {"/var/tmp/v", "/dev/shm/pyexecd-0/venvs/x"},
     {"/dev/shm/pyexecd-0/venvs/x", "/var/tmp/v"}},
    {"the kernel's and the machine's settings",
     {"/proc/1/root", "/sys/kernel", "/etc", "/etc/ssl/private", "/etc/alternatives/python@",
      "/run/secrets", "/boot/efi", "/proc"},
     {NULL}},
};

static void check(size_t number, const char *state)
{
    struct needed_path paths[PATHS];
    char **shown;
    size_t count = 0;
    size_t i;

    for (; count < PATHS && cases[number].paths[count]; count++) {
        const size_t length = strlen(cases[number].paths[count]);

        paths[count].path = memory_copy_string(cases[number].paths[count]);
        paths[count].is_directory = paths[count].path[length - 1] != '@';
        if (!paths[count].is_directory)
            paths[count].path[length - 1] = '\0';
    }
    shown = needed_paths_reduce(paths, count,
                                &(struct needed_paths_setting){.homes = homes, .state = state});
    for (i = 0; shown[i] && cases[number].shown[i]; i++)
        if (strcmp(shown[i], cases[number].shown[i]) != 0)
            break;
    if (shown[i] || cases[number].shown[i])
        fail_msg("%s: %s is shown, not %s", cases[number].what,
                 shown[i] ? shown[i] : "nothing more",
                 cases[number].shown[i] ? cases[number].shown[i] : "nothing more");
    memory_free_strings(shown);
    for (i = 0; i < count; i++)
        free(paths[i].path);
}

static void test_a_python_shows_its_own_directories_only(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        check(i, STATE);
}

static void test_the_state_directory_may_be_anywhere(void **state)
{
    static const char *const no_homes[] = {NULL};
    static const char *const places[] = {"/dev/shm/pyexecd-0", "/tmp/pyexecd-7/x",
                                         "/var/lib/pyexecd"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
        struct needed_path paths[] = {
            {memory_format("%s/venvs/k", places[i]), true},
            {memory_copy_string(places[i]), true},
            {memory_format("%s/directories", places[i]), true},
        };
        char **shown = needed_paths_reduce(
            paths, ARRAY_SIZE(paths),
            &(struct needed_paths_setting){.homes = no_homes, .state = places[i]});

        assert_string_equal(shown[0], paths[0].path);
        assert_null(shown[1]);
        memory_free_strings(shown);
        for (size_t j = 0; j < ARRAY_SIZE(paths); j++)
            free(paths[j].path);
    }
}

/* A catalog that runs nothing has none. */
static void test_without_a_state_directory_the_rest_holds(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        if (strcmp(cases[i].what, "the state directory and what is beside the venvs") != 0)
            check(i, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_python_shows_its_own_directories_only),
        cmocka_unit_test(test_the_state_directory_may_be_anywhere),
        cmocka_unit_test(test_without_a_state_directory_the_rest_holds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
