/* Sandboxes on a real loop with the real runner: what a program sees, and what each layer holds
 * alone. */
#include "base/cleanup.h"
#include "base/list.h"
#include "base/memory.h"
#include "environments/process/landlock.h"
#include "environments/process/process.h"
#include "tests/unit/base/openat2.h"
#include "tests/unit/process/sandbox_scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = 65533 };

/* Prints a word for each thing that was possible. */
#define TRIES                                                                                      \
    "import os, sys\n"                                                                             \
    "folder = sys.argv[1]\n"                                                                       \
    "def attempt(word, act):\n"                                                                    \
    "    try: act()\n"                                                                             \
    "    except OSError: return\n"                                                                 \
    "    print(word, end=' ')\n"                                                                   \
    "attempt('read', lambda: open(folder + '/shown/file').read())\n"                               \
    "attempt('CHANGE', lambda: open(folder + '/shown/file', 'w'))\n"                               \
    "attempt('write', lambda: open('new', 'w').write('x'))\n"                                      \
    "attempt('HIDDEN', lambda: open(folder + '/hidden/file').read())\n"                            \
    "attempt('LINK', lambda: open(folder + '/link/file').read())\n"                                \
    "attempt('PASSWORDS', lambda: open('/etc/shadow').read())\n"                                   \
    "attempt('MACHINE', lambda: open('/sys/etc/shadow').read())\n"                                 \
    "attempt('ROOT', lambda: open('/new', 'w'))\n"                                                 \
    "attempt('KERNEL', lambda: open('/proc/sys/kernel/core_pattern', 'w'))\n"                      \
    "attempt('null', lambda: open('/dev/null', 'w').write('x'))\n"

#define EXPECTED_IN_ANY "read write null "

static void test_a_program_uses_what_its_policy_names(void **state)
{
    struct scene *scene = scene_new(LAYERS_OF_TREES | LAYERS_OF_SANDBOX);

    (void)state;
    for (int i = 0; i < 2; i++) { /* without a spare, and with one */
        scene_run_usual(scene, false, TRIES);
        assert_string_equal(scene->failure, "");
        assert_string_equal(scene->output, EXPECTED_IN_ANY);
        assert_int_equal(process_receipt_isolation(&scene->receipt), ISOLATION_SANDBOX);
    }
    scene_free(scene);
}

static void check_layers(unsigned without, size_t *ret_missing)
{
    struct scene *scene = scene_new((LAYERS_OF_TREES | LAYERS_OF_SANDBOX) & ~without);

    scene_run_usual(scene, false, TRIES);
    assert_string_equal(scene->failure, "");
    assert_string_equal(scene->output, EXPECTED_IN_ANY);
    assert_int_equal(scene->receipt.layers & without, 0);
    *ret_missing = scene->missing;
    scene_free(scene);
}

static void test_each_layer_of_files_holds_them_alone(void **state)
{
    size_t none;
    size_t one;

    (void)state;
    check_layers(0, &none);
    check_layers(LAYER_ROOT, &one);
    assert_int_equal(one, none + 1);
    if (!landlock_can_hold_files())
        skip();
    check_layers(LAYER_FILES, &one);
    assert_int_equal(one, none + 1);
    check_layers(LAYER_PID_NAMESPACE, &one);
    assert_true(one >= none + 2);
}

/* Lets RUNNER name a copy at PATH, which ends in XXXXXX: the tree may lie below a home that is
 * closed to others. */
static void copy_runner(char *path)
{
    AUTO_CLOSE int from = open(getenv("RUNNER"), O_RDONLY | O_CLOEXEC);
    AUTO_CLOSE int to = mkostemp(path, O_CLOEXEC);
    struct stat status;

    assert_return_code(fstat(from, &status), errno);
    assert_int_equal(sendfile(to, from, NULL, (size_t)status.st_size), status.st_size);
    assert_return_code(fchmod(to, 0755), errno);
    assert_return_code(setenv("RUNNER", path, 1), errno);
}

static int try_as_nobody(void)
{
    struct scene *scene;

    if (setgid(NOBODY) < 0 || setuid(NOBODY) < 0)
        return 1;
    scene = scene_new(LAYERS_OF_TREES | LAYERS_OF_SANDBOX);
    scene_run_usual(scene, false, TRIES);
    if (strcmp(scene->output, EXPECTED_IN_ANY) != 0)
        return 2;
    scene_free(scene);
    return 0;
}

static void test_the_sandbox_needs_no_privilege(void **state)
{
    char runner[] = "/tmp/sandbox-runner-XXXXXX";
    AUTO_FREE char *usual = memory_copy_string(getenv("RUNNER"));
    int status = -1;
    pid_t child;

    (void)state;
    if (geteuid() != 0)
        skip();
    copy_runner(runner);
    child = fork();
    if (child == 0)
        _exit(try_as_nobody());
    assert_int_equal(waitpid(child, &status, 0), child);
    setenv("RUNNER", usual, 1);
    unlink(runner);
    assert_int_equal(status, 0);
}

static void test_what_is_required_is_had_or_refused(void **state)
{
    static const unsigned without[] = {LAYER_ROOT, LAYER_NETWORK, LAYER_FILES};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(without); i++) {
        struct scene *scene = scene_new((LAYERS_OF_TREES | LAYERS_OF_SANDBOX) & ~without[i]);
        struct error err = ERROR_INIT;

        assert_int_equal(
            scene_run(scene, &(struct process_sandbox){.required = true}, "print(1)", &err), -1);
        assert_int_equal(err.code, ERROR_UNAVAILABLE);
        assert_non_null(strstr(err.message, "cannot give the run its sandbox"));
        scene_free(scene);
    }
}

/* File rules add up: only a mount makes a place read-only in one that is written. */
static void test_what_is_kept_needs_a_root_of_its_own(void **state)
{
    struct scene *scene = scene_new((LAYERS_OF_TREES | LAYERS_OF_SANDBOX) & ~LAYER_ROOT);
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(scene_run(scene, &(struct process_sandbox){.keeps = true}, "print(1)", &err),
                     -1);
    assert_int_equal(err.code, ERROR_UNAVAILABLE);
    scene_free(scene);
}

static void test_without_a_layer_of_files_there_is_no_sandbox(void **state)
{
    struct scene *scene = scene_new((LAYERS_OF_TREES | LAYERS_OF_SANDBOX) & ~LAYERS_OF_FILES);
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(scene_run(scene, &(struct process_sandbox){0}, "print(1)", &err), -1);
    assert_int_equal(err.code, ERROR_UNAVAILABLE);
    scene_free(scene);
}

static void test_what_can_be_written_is_not_behind_a_link(void **state)
{
    struct scene *scene = scene_new(LAYERS_OF_TREES | LAYERS_OF_SANDBOX);
    AUTO_FREE char *link = memory_format("%s/link", scene->folder);
    const char *const write[] = {link, NULL};
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(scene_run(scene, &(struct process_sandbox){.write = write}, "print(1)", &err),
                     0);
    assert_non_null(strstr(scene->failure, "cannot show in the sandbox"));
    assert_non_null(strstr(scene->failure, link));
    scene_free(scene);
}

/* Runs CODE; work can be written, and MORE of the folder be read or written. */
static void scene_run_with(struct scene *scene, const char *more, bool is_written, const char *code)
{
    AUTO_FREE char *named = memory_format("%s/%s", scene->folder, more);
    AUTO_FREE char *work = memory_format("%s/work", scene->folder);
    const char *const read[] = {is_written ? NULL : named, NULL};
    const char *const write[] = {work, is_written ? named : NULL, NULL};
    struct error err = ERROR_INIT;

    if (scene_run(scene, &(struct process_sandbox){.read = read, .write = write}, code, &err) < 0)
        fail_msg("%s", err.message);
}

static void test_file_rules_do_not_follow_a_link_either(void **state)
{
    struct scene *scene = scene_new((LAYERS_OF_TREES | LAYERS_OF_SANDBOX) & ~(unsigned)LAYER_ROOT);

    (void)state;
    if (!landlock_can_hold_files())
        skip();
    scene_run_with(scene, "link", true, TRIES);
    assert_string_equal(scene->output, "write null ");
    scene_free(scene);
}

static void test_what_is_read_in_a_written_directory_is_not_changed(void **state)
{
    struct scene *scene = scene_new(LAYERS_OF_TREES | LAYERS_OF_SANDBOX);

    (void)state;
    scene_make(scene, "work/kept", false);
    scene_make(scene, "work/kept/file", true);
    scene_run_with(scene, "work/kept", false,
                   "import os\n"
                   "def attempt(word, act):\n"
                   "    try: act()\n"
                   "    except OSError: return\n"
                   "    print(word, end=' ')\n"
                   "attempt('read', lambda: open('kept/file').read())\n"
                   "attempt('write', lambda: open('new', 'w'))\n"
                   "attempt('CHANGE', lambda: open('kept/file', 'w'))\n"
                   "attempt('MOVE', lambda: os.rename('kept', 'moved'))\n");
    assert_string_equal(scene->failure, "");
    assert_string_equal(scene->output, "read write ");
    scene_free(scene);
}

static void test_what_file_rules_let_pass_is_refused(void **state)
{
    struct scene *scene = scene_new((LAYERS_OF_TREES | LAYERS_OF_SANDBOX) & ~(unsigned)LAYER_ROOT);
    AUTO_FREE char *shown = memory_format("%s/shown", scene->folder);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    AUTO_CLOSE int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct stat status;

    (void)state;
    snprintf(address.sun_path, sizeof address.sun_path, "%s/work/socket", scene->folder);
    assert_return_code(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_return_code(listen(listener, 8), 0);
    scene_run_usual(scene, false,
                    "import os, socket, sys\n"
                    "os.chmod(sys.argv[1] + '/shown', 0o777)\n"
                    "os.utime(sys.argv[1] + '/shown', (1, 1))\n"
                    "one, other = socket.socketpair()\n"
                    "try: socket.socket(socket.AF_UNIX).connect('socket')\n"
                    "except PermissionError: print('refused')\n");
    assert_string_equal(scene->output, "refused\n");
    assert_return_code(stat(shown, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0755);
    assert_int_not_equal(status.st_mtime, 1);
    scene_free(scene);
}

static void test_a_link_is_shown_as_a_link(void **state)
{
    struct scene *scene = scene_new(LAYERS_OF_TREES | LAYERS_OF_SANDBOX);
    AUTO_FREE char *link = memory_format("%s/link", scene->folder);
    AUTO_FREE char *work = memory_format("%s/work", scene->folder);
    const char *const read[] = {link, NULL};
    const char *const write[] = {work, NULL};
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(scene_run(scene, &(struct process_sandbox){.read = read, .write = write},
                               "import os, sys\n"
                               "print(os.readlink(sys.argv[1] + '/link'))\n"
                               "print(os.path.exists(sys.argv[1] + '/link'))\n",
                               &err),
                     0);
    assert_string_equal(scene->output, "hidden\nFalse\n");
    scene_free(scene);
}

static void test_nothing_passes_from_one_run_to_the_next(void **state)
{
    struct scene *scene = scene_new(LAYERS_OF_TREES | LAYERS_OF_SANDBOX);

    (void)state;
    for (int i = 0; i < 2; i++) {
        scene_run_usual(scene, false,
                        "import os\n"
                        "print(*sorted(os.listdir('/tmp')), *os.listdir('/dev/shm'),\n"
                        "      *os.listdir('/run'), *os.listdir('/home'))\n"
                        "open('/tmp/left', 'w'), open('/dev/shm/left', 'w')\n");
        assert_non_null(strstr(scene->output, "sandbox-")); /* the way to its own directory */
        assert_null(strstr(scene->output, "left"));
    }
    scene_free(scene);
}

int main(void)
{
    int failed;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_program_uses_what_its_policy_names),
        cmocka_unit_test(test_each_layer_of_files_holds_them_alone),
        cmocka_unit_test(test_the_sandbox_needs_no_privilege),
        cmocka_unit_test(test_what_is_required_is_had_or_refused),
        cmocka_unit_test(test_what_is_kept_needs_a_root_of_its_own),
        cmocka_unit_test(test_without_a_layer_of_files_there_is_no_sandbox),
        cmocka_unit_test(test_what_can_be_written_is_not_behind_a_link),
        cmocka_unit_test(test_file_rules_do_not_follow_a_link_either),
        cmocka_unit_test(test_what_is_read_in_a_written_directory_is_not_changed),
        cmocka_unit_test(test_what_file_rules_let_pass_is_refused),
        cmocka_unit_test(test_a_link_is_shown_as_a_link),
        cmocka_unit_test(test_nothing_passes_from_one_run_to_the_next),
    };

    failed = cmocka_run_group_tests_name("with openat2", tests, NULL, NULL);
    return failed + cmocka_run_group_tests_name("part by part", tests, openat2_take_away, NULL);
}
