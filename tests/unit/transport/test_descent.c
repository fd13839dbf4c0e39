#include "server/transport/socket/descent.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A grandchild whose parent has ended; it waits to be killed. */
static pid_t leave_orphan(void)
{
    int pids[2];
    pid_t pid;

    assert_int_equal(pipe(pids), 0);
    if (fork() == 0) {
        pid = fork();
        if (pid == 0)
            for (;;)
                pause();
        (void)!write(pids[1], &pid, sizeof pid);
        _exit(0);
    }
    assert_int_equal(read(pids[0], &pid, sizeof pid), sizeof pid);
    (void)wait(NULL);
    close(pids[0]);
    close(pids[1]);
    return pid;
}

static void end_process(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void an_orphan_is_still_ours(void **state)
{
    pid_t pid = leave_orphan();

    (void)state;
    assert_int_equal(descent_of(pid), DESCENT_OURS);
    end_process(pid);
    assert_int_equal(descent_of(pid), DESCENT_UNKNOWN);
}

static void neither_we_nor_our_ancestors_are(void **state)
{
    (void)state;
    assert_int_equal(descent_of(getpid()), DESCENT_NONE);
    assert_int_equal(descent_of(getppid()), DESCENT_NONE);
    assert_int_equal(descent_of(1), DESCENT_NONE);
}

static uint64_t inode_of(int fd)
{
    struct stat status;

    assert_int_equal(fstat(fd, &status), 0);
    return status.st_ino;
}

/* Our children are supervisors, which hold none: a grandchild does. */
static void a_socket_is_found_where_it_is(void **state)
{
    int fds[2];
    uint64_t inodes[2];
    pid_t orphan = 0;
    pid_t child;

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    for (int i = 0; i < 2; i++)
        inodes[i] = inode_of(fds[i]);
    child = fork();
    if (child == 0) {
        close(fds[1]);
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        orphan = leave_orphan();
        (void)!write(fds[0], &orphan, sizeof orphan);
        close(fds[0]);
        for (;;)
            pause();
    }
    close(fds[0]);
    while (descent_of_socket(inodes[0]) != DESCENT_OURS)
        usleep(1000);
    assert_int_equal(descent_of_socket(inodes[1]), DESCENT_NONE);
    assert_int_equal(read(fds[1], &orphan, sizeof orphan), sizeof orphan);
    end_process(child);
    end_process(orphan); /* we have adopted it */
    close(fds[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_orphan_is_still_ours),
        cmocka_unit_test(neither_we_nor_our_ancestors_are),
        cmocka_unit_test(a_socket_is_found_where_it_is),
    };

    prctl(PR_SET_CHILD_SUBREAPER, 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
