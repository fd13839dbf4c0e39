/* Descriptors, watches and namespaces that are used up: no run is weaker for it. */
#include "base/memory.h"
#include "environments/process/process.h"
#include "tests/unit/process/process_trial.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

enum { NOBODY = 65533 }; /* a user that has nothing */

/* In a child, whose lowest free descriptors are those that a runner gets. */
static int run_with_few_descriptors(void)
{
    struct trial_host *host;
    struct process_trial trial;

    close_range(3, ~0U, 0);
    setenv("LIBEV_FLAGS", "2", 1); /* poll, which needs no descriptor of its own */
    host = trial_host_new(LAYERS_OF_TREES);
    process_trial_execute(host, &trial, "print(1)", 0);
    return strcmp(trial.output, "1\n");
}

static void test_the_runner_is_found_among_few_descriptors(void **state)
{
    (void)state;
    run_in_child(run_with_few_descriptors);
}

/* From now on this process can have nothing watched by epoll, as when its user's quota is used up.
 */
static void refuse_watches(void)
{
    struct sock_filter lines[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_epoll_ctl, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSPC),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {.len = ARRAY_SIZE(lines), .filter = lines};

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

static int begin_without_watches(void)
{
    struct trial_host *host = trial_host_new(LAYERS_OF_TREES);
    struct process_trial trial;

    refuse_watches();
    process_trial_execute(host, &trial, "print(1)", 0);
    return trial.end.failure[0] ? 0 : 1;
}

static int go_on_without_watches(void)
{
    struct trial_host *host = trial_host_new(LAYERS_OF_TREES);
    struct process_trial trial;

    trial_host_let_spare_prepare(host);
    refuse_watches();
    process_trial_execute(host, &trial, "print(1)", 0);
    return trial.end.failure[0] ? 0 : 1;
}

static void test_a_run_that_cannot_be_followed_is_a_failure(void **state)
{
    (void)state;
    run_in_child(begin_without_watches);
    run_in_child(go_on_without_watches);
}

static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    close(fd);
    return written;
}

/* From now on this process is root of a user namespace, below which there may be MOST others. */
static bool limit_namespaces(const char *most)
{
    char users[64];
    char groups[64];

    snprintf(users, sizeof users, "0 %u 1", (unsigned)geteuid());
    snprintf(groups, sizeof groups, "0 %u 1", (unsigned)getegid());
    return unshare(CLONE_NEWUSER) == 0 && write_file("/proc/self/setgroups", "deny") &&
           write_file("/proc/self/uid_map", users) && write_file("/proc/self/gid_map", groups) &&
           write_file("/proc/sys/user/max_user_namespaces", most);
}

/* A process that holds a user namespace. */
static pid_t hold_namespace(void)
{
    int ready[2];
    char byte;
    pid_t holder;

    if (pipe(ready) < 0)
        return -1;
    holder = fork();
    if (holder == 0) {
        (void)!unshare(CLONE_NEWUSER);
        close(ready[1]);
        pause();
    }
    close(ready[1]);
    (void)!read(ready[0], &byte, 1); /* its end */
    close(ready[0]);
    return holder;
}

/* All namespaces are in use, and then one is free again. */
static int run_while_namespaces_are_used_up(void)
{
    struct process_trial trial;
    struct trial_host *host;
    pid_t holder;

    if (!limit_namespaces("1"))
        return 0; /* none of these here */
    holder = hold_namespace();
    host = trial_host_new(LAYERS_OF_TREES);
    process_trial_execute(host, &trial, "print(1)", 0);
    if (!strstr(trial.end.failure, "No space left") || trial.bytes > 0)
        return 1;
    kill(holder, SIGKILL);
    waitpid(holder, NULL, 0);
    for (int i = 0; i < 600; i++) { /* the kernel frees namespaces later */
        process_trial_execute(host, &trial, "print(1)", 0);
        if (!trial.end.failure[0])
            break;
        usleep(100000);
    }
    return trial.end.receipt.layers & LAYER_PID_NAMESPACE ? 0 : 2;
}

static int run_without_namespaces(void)
{
    struct process_trial trial;
    struct trial_host *host;

    if (!limit_namespaces("0"))
        return 0;
    host = trial_host_new(LAYERS_OF_TREES);
    process_trial_execute(host, &trial, "print(1)", 0);
    return trial.end.failure[0] || trial.end.receipt.layers & LAYER_PID_NAMESPACE;
}

static void test_a_shortage_weakens_nothing(void **state)
{
    (void)state;
    run_in_child(run_while_namespaces_are_used_up);
}

static void test_a_setting_weakens(void **state)
{
    (void)state;
    run_in_child(run_without_namespaces);
}

/* As many descriptors are on their way as this user may have: another process of the user has sent
 * them. */
static bool fill_flight(void)
{
    struct rlimit limit = {.rlim_cur = 64, .rlim_max = 64};
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(60 * sizeof(int))];
    } ancillary = {.head = {CMSG_LEN(60 * sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
    struct iovec part = {.iov_base = (char *)"x", .iov_len = 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &ancillary,
                             .msg_controllen = sizeof ancillary.bytes};
    int ends[2];

    if (setresuid(NOBODY, NOBODY, NOBODY) < 0 || setrlimit(RLIMIT_NOFILE, &limit) < 0 ||
        socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) < 0)
        return false;
    while (sendmsg(ends[0], &message, MSG_DONTWAIT) > 0)
        ;
    return errno == ETOOMANYREFS;
}

/* Where a user may have 64 on the way, and has. */
static int run_while_descriptors_are_in_flight(void)
{
    struct trial_host *host;
    struct process_trial trial;

    if (geteuid() != 0)
        return 0; /* it would spoil the user's own */
    if (!fill_flight())
        return 1;
    if (access(getenv("RUNNER"), X_OK) < 0)
        return 0; /* it is built where another user may not look */
    host = trial_host_new(LAYERS_OF_TREES);
    process_trial_execute(host, &trial, "print(1)", 0);
    return strcmp(trial.output, "1\n") != 0 || trial.end.failure[0];
}

static int count_what_may_be_sent(void)
{
    struct rlimit limit = {.rlim_cur = 512, .rlim_max = 4096};

    if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
        return 1;
    (void)trial_host_new(LAYERS_OF_TREES);
    return getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur != limit.rlim_max;
}

static void test_descriptors_in_flight_do_not_matter(void **state)
{
    (void)state;
    run_in_child(run_while_descriptors_are_in_flight);
    run_in_child(count_what_may_be_sent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_runner_is_found_among_few_descriptors),
        cmocka_unit_test(test_a_run_that_cannot_be_followed_is_a_failure),
        cmocka_unit_test(test_a_shortage_weakens_nothing),
        cmocka_unit_test(test_a_setting_weakens),
        cmocka_unit_test(test_descriptors_in_flight_do_not_matter),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
