#include "server/transport/socket/socket.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

enum { NOBODY = 65534 };

static char folder[] = "/tmp/test_socket.XXXXXX";

/* Unix */

static struct endpoint unix_endpoint(const char *name)
{
    struct endpoint endpoint = {.local.sun_family = AF_UNIX, .length = sizeof(endpoint.local)};

    snprintf(endpoint.local.sun_path, sizeof(endpoint.local.sun_path), "%s/%s", folder, name);
    return endpoint;
}

static mode_t mode_of(const char *path)
{
    struct stat status;

    assert_int_equal(lstat(path, &status), 0);
    return status.st_mode & 07777;
}

static bool exists(const char *path)
{
    struct stat status;

    return lstat(path, &status) == 0;
}

static int try_connect(const struct endpoint *endpoint)
{
    int fd = socket(endpoint->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int ret = connect(fd, &endpoint->any, endpoint->length);

    close(fd);
    return ret;
}

static void check_refused(const struct endpoint *endpoint, const char *complaint)
{
    struct socket_file file = {0};
    struct error err = ERROR_INIT;

    assert_int_equal(socket_open_unix(endpoint, &file, &err), -1);
    if (!strstr(err.message, complaint))
        fail_msg("\"%s\" does not say \"%s\"", err.message, complaint);
    assert_string_equal(file.path, "");
}

static void test_socket_and_missing_directories_are_private(void **state)
{
    struct endpoint endpoint = unix_endpoint("new/deep/socket");
    const char *path = endpoint.local.sun_path;
    struct socket_file file;
    struct error err = ERROR_INIT;
    mode_t mask = umask(0);
    int fd = socket_open_unix(&endpoint, &file, &err);
    char directory[64];

    (void)state;
    assert_int_equal(umask(mask), 0); /* as it was */
    assert_true(fd >= 0);
    assert_int_equal(mode_of(path), 0600);
    snprintf(directory, sizeof(directory), "%s/new/deep", folder);
    assert_int_equal(mode_of(directory), 0700);
    assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
    assert_int_equal(try_connect(&endpoint), 0);
    socket_file_remove(&file);
    assert_false(exists(path));
    socket_file_remove(&file);
    close(fd);
}

static void test_a_left_over_socket_is_replaced(void **state)
{
    struct endpoint endpoint = unix_endpoint("stale");
    struct socket_file file;
    struct error err = ERROR_INIT;
    int fd = socket_open_unix(&endpoint, &file, &err);

    (void)state;
    assert_true(fd >= 0);
    close(fd); /* as if it had been killed */
    assert_true(exists(endpoint.local.sun_path));
    fd = socket_open_unix(&endpoint, &file, &err);
    assert_true(fd >= 0);
    assert_int_equal(try_connect(&endpoint), 0);
    socket_file_remove(&file);
    close(fd);
}

static void test_a_socket_that_is_served_is_not(void **state)
{
    struct endpoint endpoint = unix_endpoint("live");
    struct socket_file file;
    struct error err = ERROR_INIT;
    int fd = socket_open_unix(&endpoint, &file, &err);

    (void)state;
    assert_true(fd >= 0);
    check_refused(&endpoint, "another server listens there");
    assert_int_equal(try_connect(&endpoint), 0);
    socket_file_remove(&file);
    close(fd);
}

/* A full queue must not be taken for a dead server. */
static void test_a_socket_that_is_busy_is_not(void **state)
{
    struct endpoint endpoint = unix_endpoint("busy");
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int clients[16];
    int count = 0;

    (void)state;
    assert_int_equal(bind(listener, &endpoint.any, endpoint.length), 0);
    assert_int_equal(listen(listener, 0), 0);
    for (; count < 16; count++) {
        clients[count] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (connect(clients[count], &endpoint.any, endpoint.length) < 0)
            break;
    }
    assert_int_equal(errno, EAGAIN);
    check_refused(&endpoint, "another server listens there");
    for (; count >= 0; count--)
        close(clients[count]);
    close(listener);
}

static void test_what_is_not_a_socket_stays(void **state)
{
    struct endpoint file = unix_endpoint("file");
    struct endpoint link = unix_endpoint("link");
    struct endpoint dangling = unix_endpoint("dangling");
    int fd = open(file.local.sun_path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

    (void)state;
    assert_int_equal(symlink(file.local.sun_path, link.local.sun_path), 0);
    assert_int_equal(symlink("nowhere", dangling.local.sun_path), 0);
    check_refused(&file, "exists and is not a socket");
    check_refused(&link, "exists and is not a socket");
    check_refused(&dangling, "exists and is not a socket");
    assert_true(exists(file.local.sun_path));
    assert_true(exists(link.local.sun_path));
    close(fd);
}

/* Left over, but named by a link that somebody else may have made. */
static void test_a_link_to_a_left_over_socket_stays(void **state)
{
    struct endpoint endpoint = unix_endpoint("behind");
    struct endpoint link = unix_endpoint("to_behind");
    struct socket_file file;
    struct error err = ERROR_INIT;

    (void)state;
    close(socket_open_unix(&endpoint, &file, &err));
    assert_int_equal(symlink(endpoint.local.sun_path, link.local.sun_path), 0);
    check_refused(&link, "exists and is not a socket");
    assert_true(exists(endpoint.local.sun_path));
}

static void test_a_socket_of_another_user_stays(void **state)
{
    struct endpoint endpoint = unix_endpoint("foreign");
    struct socket_file file;
    struct error err = ERROR_INIT;

    (void)state;
    if (geteuid() != 0)
        skip(); /* nobody can give a file away */
    close(socket_open_unix(&endpoint, &file, &err));
    assert_int_equal(chown(endpoint.local.sun_path, NOBODY, NOBODY), 0);
    check_refused(&endpoint, "belongs to user 65534");
    assert_true(exists(endpoint.local.sun_path));
}

static void test_directories_that_others_control_are_refused(void **state)
{
    static const struct {
        mode_t mode;
        const char *complaint; /* NULL: it is good */
    } cases[] = {
        {0700, NULL},
        {0755, NULL},
        {01777, NULL},
        {01770, NULL},
        {0770, "can be written by others (mode 0770)"},
        {0757, "can be written by others (mode 0757)"},
        {0777, "can be written by others (mode 0777)"},
    };
    struct endpoint endpoint = unix_endpoint("open/socket");
    char directory[64];

    (void)state;
    snprintf(directory, sizeof(directory), "%s/open", folder);
    assert_int_equal(mkdir(directory, 0700), 0);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct socket_file file;
        struct error err = ERROR_INIT;

        assert_int_equal(chmod(directory, cases[i].mode), 0);
        if (cases[i].complaint) {
            check_refused(&endpoint, cases[i].complaint);
            continue;
        }
        close(socket_open_unix(&endpoint, &file, &err));
        assert_int_equal(err.code, ERROR_NONE);
        socket_file_remove(&file);
    }
}

static void test_the_directory_of_another_user_is_refused(void **state)
{
    struct endpoint endpoint = unix_endpoint("theirs/socket");
    char directory[64];

    (void)state;
    if (geteuid() != 0)
        skip();
    snprintf(directory, sizeof(directory), "%s/theirs", folder);
    assert_int_equal(mkdir(directory, 0755), 0);
    assert_int_equal(chown(directory, NOBODY, NOBODY), 0);
    check_refused(&endpoint, "belongs to user 65534, who could replace the socket");
}

static void test_a_file_in_the_way_of_a_directory_is_an_error(void **state)
{
    struct endpoint endpoint = unix_endpoint("plain/socket");
    char path[64];

    (void)state;
    snprintf(path, sizeof(path), "%s/plain", folder);
    close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    check_refused(&endpoint, "cannot open the directory");
}

static void test_only_our_own_file_is_removed(void **state)
{
    struct endpoint endpoint = unix_endpoint("replaced");
    const char *path = endpoint.local.sun_path;
    struct socket_file old;
    struct socket_file new;
    struct error err = ERROR_INIT;
    int fd = socket_open_unix(&endpoint, &old, &err);

    (void)state;
    assert_int_equal(rename(path, unix_endpoint("moved").local.sun_path), 0);
    close(socket_open_unix(&endpoint, &new, &err));
    socket_file_remove(&old);
    assert_true(exists(path));
    socket_file_remove(&new);
    assert_false(exists(path));
    close(fd);
}

/* Between bind and listen a socket looks dead; the lock is what protects it. */
static void test_the_directory_is_locked_while_a_socket_is_made(void **state)
{
    struct endpoint endpoint = unix_endpoint("locked");
    int lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct socket_file file;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(flock(lock, LOCK_EX), 0);
    check_refused(&endpoint, "locked");
    close(lock);
    close(socket_open_unix(&endpoint, &file, &err));
    assert_int_equal(err.code, ERROR_NONE);
    socket_file_remove(&file);
}

/* TCP */

static struct endpoint tcp_endpoint(const char *text)
{
    struct address address;
    struct error err = ERROR_INIT;

    assert_int_equal(address_parse(text, &address, &err), 0);
    return address.endpoints[0];
}

static void test_the_kernel_chooses_port_0(void **state)
{
    struct endpoint endpoint = tcp_endpoint("tcp:127.0.0.1:0");
    struct error err = ERROR_INIT;
    int fd = socket_open_tcp(&endpoint, &err);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(socket_get_endpoint(fd, &endpoint, &err), 0);
    assert_int_not_equal(endpoint.ipv4.sin_port, 0);
    assert_int_equal(try_connect(&endpoint), 0);
    assert_int_equal(socket_open_tcp(&endpoint, &err), -1);
    assert_non_null(strstr(err.message, "Address already in use"));
    close(fd);
}

static void test_ipv6_is_only_ipv6(void **state)
{
    struct endpoint endpoint = tcp_endpoint("tcp:[::1]:0");
    struct endpoint ipv4 = tcp_endpoint("tcp:127.0.0.1:0");
    struct error err = ERROR_INIT;
    int fd = socket_open_tcp(&endpoint, &err);

    (void)state;
    if (fd < 0 && (err.number == EAFNOSUPPORT || err.number == EADDRNOTAVAIL))
        skip();
    assert_true(fd >= 0);
    assert_int_equal(socket_get_endpoint(fd, &endpoint, &err), 0);
    assert_int_equal(try_connect(&endpoint), 0);
    ipv4.ipv4.sin_port = endpoint.ipv6.sin6_port;
    assert_int_equal(try_connect(&ipv4), -1);
    close(fd);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    pid_t pid = fork();
    int status;

    (void)state;
    if (pid == 0) {
        execlp("rm", "rm", "-rf", folder, NULL);
        _exit(127);
    }
    return waitpid(pid, &status, 0) == pid && status == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_socket_and_missing_directories_are_private),
        cmocka_unit_test(test_a_left_over_socket_is_replaced),
        cmocka_unit_test(test_a_socket_that_is_served_is_not),
        cmocka_unit_test(test_a_socket_that_is_busy_is_not),
        cmocka_unit_test(test_what_is_not_a_socket_stays),
        cmocka_unit_test(test_a_link_to_a_left_over_socket_stays),
        cmocka_unit_test(test_a_socket_of_another_user_stays),
        cmocka_unit_test(test_directories_that_others_control_are_refused),
        cmocka_unit_test(test_the_directory_of_another_user_is_refused),
        cmocka_unit_test(test_a_file_in_the_way_of_a_directory_is_an_error),
        cmocka_unit_test(test_only_our_own_file_is_removed),
        cmocka_unit_test(test_the_directory_is_locked_while_a_socket_is_made),
        cmocka_unit_test(test_the_kernel_chooses_port_0),
        cmocka_unit_test(test_ipv6_is_only_ipv6),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
