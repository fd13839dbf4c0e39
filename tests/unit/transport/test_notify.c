#include "server/transport/notify.h"

#include "base/memory.h"
#include "tests/unit/transport/turning.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

/* A manager at NAME, a path or "@abstract". */
static int open_manager(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    memcpy(address.sun_path, name, strlen(name));
    if (name[0] == '@')
        address.sun_path[0] = '\0';
    assert_int_equal(bind(fd, (struct sockaddr *)&address, length), 0);
    setenv("NOTIFY_SOCKET", name, 1);
    return fd;
}

static void check_received(int manager, const char *wanted)
{
    char text[64] = "";

    assert_true(recv(manager, text, sizeof(text) - 1, 0) >= 0);
    assert_string_equal(text, wanted);
}

static void check_told(const char *name)
{
    int manager = open_manager(name);
    struct notify notify;

    notify_init(&notify, ev_default_loop(0));
    assert_null(getenv("NOTIFY_SOCKET"));
    notify_send(&notify, "READY=1");
    notify_send(&notify, "STOPPING=1\nSTATUS=bye");
    check_received(manager, "READY=1");
    check_received(manager, "STOPPING=1\nSTATUS=bye");
    notify_deinit(&notify);
    notify_deinit(&notify);
    notify_send(&notify, "READY=1"); /* goes nowhere */
    close(manager);
}

static void test_a_manager_at_a_path_is_told(void **state)
{
    char path[64];

    (void)state;
    snprintf(path, sizeof(path), "/tmp/test_notify.%d", getpid());
    check_told(path);
    unlink(path);
}

static void test_a_manager_in_the_abstract_namespace_is_told(void **state)
{
    char name[64];

    (void)state;
    snprintf(name, sizeof(name), "@test_notify.%d", getpid());
    check_told(name);
}

static void test_without_a_manager_nothing_happens(void **state)
{
    static const char *const bad[] = {NULL, "", "/", "@", "relative", "/nowhere/at/all"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct notify notify;

        if (bad[i])
            setenv("NOTIFY_SOCKET", bad[i], 1);
        notify_init(&notify, ev_default_loop(0));
        notify_send(&notify, "READY=1");
        notify_deinit(&notify);
    }
}

static void test_signs_of_life_come_twice_per_interval(void **state)
{
    struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
    char name[64];
    char text[64];
    struct notify notify;
    unsigned signs = 0;
    int manager;

    (void)state;
    snprintf(name, sizeof(name), "@test_watchdog.%d", getpid());
    manager = open_manager(name);
    setenv("WATCHDOG_USEC", "100000", 1);
    notify_init(&notify, loop);
    assert_null(getenv("WATCHDOG_USEC"));
    while (signs < 3) {
        turn_once(loop);
        if (recv(manager, text, sizeof(text), 0) == (ssize_t)strlen("WATCHDOG=1"))
            signs++;
    }
    notify_deinit(&notify);
    close(manager);
    ev_loop_destroy(loop);
}

static void test_a_watchdog_for_another_process_is_not_ours(void **state)
{
    struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
    char name[64];
    struct notify notify;
    int manager;

    (void)state;
    snprintf(name, sizeof(name), "@test_watchdog.%d", getpid());
    manager = open_manager(name);
    setenv("WATCHDOG_USEC", "100000", 1);
    setenv("WATCHDOG_PID", "1", 1);
    notify_init(&notify, loop);
    assert_null(getenv("WATCHDOG_PID"));
    assert_false(ev_is_active(&notify.watchdog));
    notify_deinit(&notify);
    close(manager);
    ev_loop_destroy(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_manager_at_a_path_is_told),
        cmocka_unit_test(test_a_manager_in_the_abstract_namespace_is_told),
        cmocka_unit_test(test_without_a_manager_nothing_happens),
        cmocka_unit_test(test_signs_of_life_come_twice_per_interval),
        cmocka_unit_test(test_a_watchdog_for_another_process_is_not_ours),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
