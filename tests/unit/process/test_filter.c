/* What the real kernel answers to a process under a filter. */
#include "environments/process/filter/filter.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    NO_CALL_YET = 5000,
    GAP = 400,         /* between the old numbers and those that all architectures share */
    LIST_MOUNTS = 458, /* the headers are older */
    FILE_ATTRIBUTES = 468,
    CHANGE_MODE = 452, /* fchmodat2 */
    FIRST_UNKNOWN = 470,
    USER_DISPATCH = 59, /* PR_SET_SYSCALL_USER_DISPATCH */
    IO_PRIORITY_OF_USER = 3,
    NEW_TIME = 0x80,
    MOST_ARGUMENTS = 4,
};

/* Neither a descriptor, an address nor a flag: what reaches the kernel fails and does nothing. */
#define BAD                                                                                        \
    {                                                                                              \
        -1, -1, -1, -1                                                                             \
    }
/* The kernel sees no upper half of an int. */
#define ABOVE(VALUE) ((VALUE) | 1L << 40)

struct filter_case {
    long call;
    long arguments[MOST_ARGUMENTS];
    int answer; /* errno, or 0; of the kernel itself where the call is allowed */
};

static const struct filter_case kernel_cases[] = {
    {SYS_getpid, BAD, 0},
    {SYS_mount, BAD, EFAULT},
    {SYS_add_key, BAD, ENOSYS},
    {SYS_request_key, BAD, ENOSYS},
    {SYS_keyctl, BAD, ENOSYS},
    {SYS_clone3, BAD, ENOSYS},
    {SYS_clone, {CLONE_NEWUSER | CLONE_THREAD}, EPERM},
    {SYS_unshare, {CLONE_NEWUSER}, EPERM},
    {SYS_unshare, {CLONE_NEWUSER | CLONE_FILES}, EPERM},
    {SYS_unshare, {CLONE_FILES}, 0},
    {SYS_prctl, {PR_SET_DUMPABLE, 1000}, 0}, /* EINVAL, if it were done */
    {SYS_prctl, {ABOVE(PR_SET_DUMPABLE), 1000}, 0},
    {SYS_prctl, {PR_SET_NAME, -1}, EFAULT},
    {SYS_openat2, BAD, ENOSYS},
};

static const struct filter_case process_cases[] = {
    {SYS_getpid, BAD, 0},
    {SYS_prlimit64, {0, -1}, EINVAL},
    {SYS_prlimit64, {ABOVE(0), -1}, EINVAL},
    {SYS_prlimit64, {1, -1}, EPERM},
    {SYS_setpriority, {PRIO_PROCESS, 0, 19}, 0},
    {SYS_setpriority, {PRIO_PROCESS, 1, 19}, EPERM},
    {SYS_setpriority, {PRIO_USER, 0, 19}, EPERM},
    {SYS_setpriority, {ABOVE(PRIO_USER), 0, 19}, EPERM},
    {SYS_ioprio_set, {-1, 0, 0}, EINVAL},
    {SYS_ioprio_set, {-1, 1, 0}, EPERM},
    {SYS_ioprio_set, {IO_PRIORITY_OF_USER, 0, -1}, EPERM},
    {SYS_sched_setaffinity, {0, 8, -1}, EFAULT},
    {SYS_sched_setaffinity, {1, 8, -1}, EPERM},
    {SYS_sched_setattr, {0, 0, 0}, EINVAL},
    {SYS_sched_setattr, {1, 0, 0}, EPERM},
    {SYS_sched_setparam, {0, 0}, EINVAL},
    {SYS_sched_setparam, {1, 0}, EPERM},
    {SYS_sched_setscheduler, {0, -1, 0}, EINVAL},
    {SYS_sched_setscheduler, {1, -1, 0}, EPERM},
};

/* At every level */
static const struct filter_case file_cases[] = {
    {SYS_fcntl, {-1, F_GETFD}, EBADF},
    {SYS_fcntl, {-1, F_SETLEASE, F_RDLCK}, EACCES},
    {SYS_fcntl, {-1, ABOVE(F_SETLEASE), F_RDLCK}, EACCES},
    {SYS_fcntl, {-1, F_SETLEASE + 16, F_RDLCK}, EACCES}, /* F_SETDELEG */
    {SYS_fcntl, {-1, F_NOTIFY, DN_ACCESS}, EACCES},
    {SYS_openat, {-1, -1, O_RDONLY | O_DIRECTORY, -1}, EFAULT}, /* without a mode */
    {SYS_openat, {-1, -1, O_CREAT, 0755}, EFAULT},
    {SYS_openat, {-1, -1, O_CREAT, S_ISUID | 0755}, EPERM},
    {SYS_openat, {-1, -1, O_CREAT, S_ISGID | 0755}, EPERM},
    {SYS_openat, {-1, -1, O_TMPFILE | O_WRONLY, ABOVE(S_ISUID)}, EPERM},
    {SYS_mknodat, {-1, -1, S_IFREG | 0755}, EFAULT},
    {SYS_mknodat, {-1, -1, S_IFREG | S_ISUID}, EPERM},
    {SYS_mknodat, {-1, -1, S_IFREG | S_ISGID}, EPERM},
    {SYS_fchmod, {-1, S_ISVTX | 0777}, EBADF},
    {SYS_fchmod, {-1, S_ISUID | 0755}, EPERM},
    {SYS_fchmod, {-1, S_ISUID | S_ISGID | 0755}, EPERM},
    {SYS_fchmod, {-1, S_ISGID | 0755}, 0}, /* as a directory that is copied, and not done */
    {SYS_fchmodat, {-1, -1, 0755}, EFAULT},
    {SYS_fchmodat, {-1, -1, ABOVE(S_ISUID | 0755)}, EPERM},
    {SYS_fchmodat, {-1, -1, S_ISGID | 0755}, 0},
    {CHANGE_MODE, {-1, -1, S_ISUID | 0755}, EPERM},
    {CHANGE_MODE, {-1, -1, S_ISGID | 0755}, 0},
#ifdef __x86_64__
    {SYS_open, {-1, O_RDONLY, -1}, EFAULT},
    {SYS_open, {-1, O_CREAT, S_ISUID | 0755}, EPERM},
    {SYS_creat, {-1, S_ISUID | 0755}, EPERM},
    {SYS_creat, {-1, 0755}, EFAULT},
    {SYS_mknod, {-1, S_IFREG | S_ISUID}, EPERM},
    {SYS_chmod, {-1, S_ISUID | 0755}, EPERM},
    {SYS_chmod, {-1, S_ISGID | 0755}, 0},
    {SYS_chmod, {-1, 0755}, EFAULT},
#endif
};

/* The same in a sandbox with and without a network. */
static const struct filter_case sandbox_cases[] = {
    /* Allowed: it is the kernel that answers */
    {SYS_getpid, BAD, 0},
    {SYS_read, BAD, EBADF},
    {SYS_faccessat2, BAD, EINVAL},
    {SYS_statx, BAD, EINVAL},
    {SYS_close_range, {1, 0}, EINVAL},
    {SYS_inotify_add_watch, {-1, -1, 1}, EBADF},
    {SYS_memfd_create, {-1, 0}, EFAULT},
    {SYS_mmap, {0, 0, 0, MAP_PRIVATE | MAP_ANONYMOUS}, EINVAL},
    {SYS_execve, BAD, EFAULT},
    {SYS_pidfd_open, BAD, EINVAL},
    {SYS_kill, {0, 0}, 0},
    {SYS_futex, BAD, ENOSYS}, /* no such operation */
    {SYS_epoll_create1, BAD, EINVAL},
    {SYS_timerfd_create, BAD, EINVAL},
    {SYS_sched_setaffinity, {0, 8, -1}, EFAULT},
    {SYS_prlimit64, {0, -1}, EINVAL},
    {SYS_getrandom, {-1, 0, -1}, EINVAL},
    {SYS_shmget, {-1, -1, 0}, ENOENT},
    {SYS_setresuid, {-1, -1, -1}, 0},
    {SYS_seccomp, BAD, EINVAL},
    {SYS_rseq, BAD, EINVAL},

    /* What the supervisor needs after it */
    {SYS_mount, BAD, EFAULT},
    {SYS_umount2, BAD, EINVAL},
    {SYS_open_tree, {-1, -1, 0}, EFAULT},
    {SYS_mount_setattr, BAD, EINVAL},
    {SYS_capset, BAD, EFAULT},

    /* By their arguments */
    {SYS_unshare, {CLONE_FILES | CLONE_FS}, 0},
    {SYS_unshare, {CLONE_NEWUSER}, EPERM},
    {SYS_unshare, {CLONE_NEWNS}, EPERM},
    {SYS_unshare, {CLONE_NEWPID}, EPERM},
    {SYS_unshare, {CLONE_NEWNET}, EPERM},
    {SYS_unshare, {CLONE_NEWIPC}, EPERM},
    {SYS_unshare, {CLONE_NEWUTS}, EPERM},
    {SYS_unshare, {CLONE_NEWCGROUP}, EPERM},
    {SYS_unshare, {NEW_TIME}, EPERM},
    {SYS_unshare, {CLONE_NEWUTS | CLONE_FILES}, EPERM},
    {SYS_clone, {CLONE_THREAD}, EINVAL},
    {SYS_clone, {CLONE_THREAD | CLONE_NEWUSER}, EPERM},
    {SYS_clone, {CLONE_THREAD | CLONE_NEWNET}, EPERM},
    {SYS_ioctl, {-1, TCGETS}, EBADF},
    {SYS_ioctl, {-1, TIOCSTI}, EPERM},
    {SYS_ioctl, {-1, ABOVE(TIOCSTI)}, EPERM},
    {SYS_ioctl, {-1, TIOCLINUX}, EPERM},
    {SYS_prctl, {PR_SET_NAME, -1}, EFAULT},
    {SYS_prctl, {PR_SET_DUMPABLE, 1000}, 0},
    {SYS_prctl, {USER_DISPATCH, 0, 0, 0}, EPERM},
    {SYS_prctl, {PR_SET_MM, -1}, EPERM},
    {SYS_personality, {PER_LINUX}, 0},
    {SYS_personality, {0xffffffff}, 0},
    {SYS_personality, {ADDR_NO_RANDOMIZE}, EPERM},
    {SYS_socket, {AF_UNIX, -1}, EINVAL},
    {SYS_socket, {AF_PACKET, -1}, EAFNOSUPPORT},
    {SYS_socket, {AF_ALG, -1}, EAFNOSUPPORT},
    {SYS_socket, {AF_VSOCK, -1}, EAFNOSUPPORT},
    {SYS_socket, {0, -1}, EAFNOSUPPORT},

    /* Refused */
    {SYS_acct, BAD, EPERM},
    {SYS_adjtimex, BAD, EPERM},
    {SYS_bpf, BAD, EPERM},
    {SYS_chroot, BAD, EPERM},
    {SYS_clock_adjtime, BAD, EPERM},
    {SYS_clock_settime, BAD, EPERM},
    {SYS_delete_module, BAD, EPERM},
    {SYS_fanotify_init, BAD, EPERM},
    {SYS_finit_module, BAD, EPERM},
    {SYS_fsconfig, BAD, EPERM},
    {SYS_fsmount, BAD, EPERM},
    {SYS_fsopen, BAD, EPERM},
    {SYS_fspick, BAD, EPERM},
    {SYS_get_mempolicy, BAD, EPERM},
    {SYS_init_module, BAD, EPERM},
    {SYS_kexec_load, BAD, EPERM},
    {SYS_mbind, BAD, EPERM},
    {SYS_migrate_pages, BAD, EPERM},
    {SYS_move_pages, BAD, EPERM},
    {SYS_name_to_handle_at, BAD, EPERM},
    {SYS_open_by_handle_at, BAD, EPERM},
    {SYS_perf_event_open, BAD, EPERM},
    {SYS_pidfd_getfd, BAD, EPERM},
    {SYS_process_madvise, BAD, EPERM},
    {SYS_process_vm_readv, BAD, EPERM},
    {SYS_process_vm_writev, BAD, EPERM},
    {SYS_ptrace, BAD, EPERM},
    {SYS_quotactl, BAD, EPERM},
    {SYS_reboot, BAD, EPERM},
    {SYS_remap_file_pages, BAD, EPERM},
    {SYS_set_mempolicy, BAD, EPERM},
    {SYS_setdomainname, BAD, EPERM},
    {SYS_setns, BAD, EPERM},
    {SYS_settimeofday, BAD, EPERM},
    {SYS_swapoff, BAD, EPERM},
    {SYS_swapon, BAD, EPERM},
    {SYS_syslog, BAD, EPERM},
    {SYS_userfaultfd, BAD, EPERM},
    {SYS_vmsplice, BAD, EPERM},

    /* Not there */
    {SYS_clone3, BAD, ENOSYS},
    {SYS_io_uring_setup, BAD, ENOSYS},
    {SYS_io_uring_enter, BAD, ENOSYS},
    {SYS_io_uring_register, BAD, ENOSYS},
    {SYS_io_setup, BAD, ENOSYS},
    {SYS_add_key, BAD, ENOSYS},
    {SYS_keyctl, BAD, ENOSYS},
    {GAP, BAD, ENOSYS},
    {LIST_MOUNTS, BAD, ENOSYS},
    {FILE_ATTRIBUTES, BAD, ENOSYS},
    {FIRST_UNKNOWN, BAD, ENOSYS},
    {NO_CALL_YET, BAD, ENOSYS},
};

/* What finds the paths of a policy, and what tells memory apart (KCMP_VM): the process -1 is none
 */
static const struct filter_case supervisor_cases[] = {
    {SYS_openat2, BAD, E2BIG},
    {SYS_kcmp, {-1, -1, KCMP_VM}, ESRCH},
    {SYS_kcmp, {-1, -1, KCMP_FILE}, EPERM},
};
static const struct filter_case program_cases[] = {
    {SYS_openat2, BAD, ENOSYS},
    {SYS_kcmp, {-1, -1, KCMP_VM}, EPERM},
    {SYS_kcmp, {-1, -1, KCMP_FILE}, EPERM},
};

/* The supervisor of a worker has made its tree when it adds its filter. */
static const struct filter_case watching_cases[] = {
    {SYS_openat2, BAD, ENOSYS},
    {SYS_kcmp, {-1, -1, KCMP_VM}, ESRCH},
    {SYS_kcmp, {-1, -1, KCMP_FILE}, EPERM},
};

static const struct filter_case online_cases[] = {
    {SYS_socket, {AF_INET, SOCK_STREAM}, 0},
    {SYS_socket, {AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP}, 0},
    {SYS_socket, {AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, IPPROTO_UDP}, 0},
    {SYS_socket, {AF_INET, SOCK_DGRAM, IPPROTO_TCP}, EPROTONOSUPPORT},
    {SYS_socketpair, {AF_UNIX, SOCK_DGRAM, 0, -1}, EFAULT},
    {SYS_socketpair, {AF_INET, SOCK_STREAM, IPPROTO_MPTCP, -1}, EAFNOSUPPORT},
    {SYS_socketpair, {AF_VSOCK, SOCK_STREAM, 0, -1}, EAFNOSUPPORT},
    {SYS_socket, {AF_INET, SOCK_STREAM, IPPROTO_MPTCP}, EPROTONOSUPPORT},
    {SYS_socket, {AF_INET6, SOCK_STREAM, ABOVE(IPPROTO_MPTCP)}, EPROTONOSUPPORT},
    {SYS_socket, {AF_INET, SOCK_DGRAM, IPPROTO_UDPLITE}, EPROTONOSUPPORT},
    {SYS_socket, {AF_INET, SOCK_STREAM, IPPROTO_SCTP}, EPROTONOSUPPORT},
    {SYS_socket, {AF_INET, SOCK_RAW, IPPROTO_RAW}, EPROTONOSUPPORT},
    {SYS_socket, {AF_INET6, SOCK_STREAM, IPPROTO_DCCP}, EPROTONOSUPPORT},
    {SYS_socket, {AF_INET, SOCK_DCCP, 0}, ESOCKTNOSUPPORT},
    {SYS_socket, {AF_INET, SOCK_SEQPACKET | SOCK_CLOEXEC, 0}, ESOCKTNOSUPPORT},
    {SYS_socket, {AF_NETLINK, SOCK_RAW, NETLINK_ROUTE}, 0},
    {SYS_socket, {AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT}, EPROTONOSUPPORT},
};

static const struct filter_case offline_cases[] = {
    {SYS_socket, {AF_INET, SOCK_DGRAM}, ENETUNREACH},
    {SYS_socket, {AF_INET6, SOCK_STREAM}, ENETUNREACH},
    {SYS_socket, {ABOVE(AF_INET), SOCK_STREAM}, ENETUNREACH},
    {SYS_socket, {AF_NETLINK, SOCK_RAW, NETLINK_ROUTE}, EAFNOSUPPORT},
};

static const struct filter_case shared_root_cases[] = {
    {SYS_fchmodat, BAD, 0},
    {SYS_fchmod, BAD, 0},
    {SYS_utimensat, BAD, 0},
    {SYS_fchownat, BAD, EPERM},
    {SYS_setxattr, BAD, EOPNOTSUPP},
    {SYS_socket, {AF_UNIX, SOCK_STREAM}, EACCES},
    {SYS_socketpair, {AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, -1}, EACCES},
    {SYS_socketpair, {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, -1}, EFAULT},
    {SYS_shmget, BAD, ENOSYS},
    {SYS_inotify_init1, BAD, EINVAL},
    {SYS_inotify_add_watch, BAD, EACCES},
    {SYS_getpid, BAD, 0},
};

static const struct filter_case proxy_cases[] = {
    {SYS_openat, {-1, -1, O_RDONLY | O_CLOEXEC}, EFAULT},
    {SYS_openat, {-1, -1, O_WRONLY}, EROFS},
    {SYS_openat, {-1, -1, O_RDWR}, EROFS},
    {SYS_openat, {-1, -1, O_CREAT}, EROFS},
    {SYS_openat, {-1, -1, O_TRUNC}, EROFS},
    {SYS_openat, {-1, -1, ABOVE(O_TMPFILE)}, EROFS},
    {SYS_openat2, BAD, EPERM},
    {SYS_unlinkat, BAD, EPERM},
    {SYS_getdents64, BAD, EPERM},
    {SYS_memfd_create, BAD, EPERM},
    {SYS_read, BAD, EBADF},
    {SYS_pread64, BAD, EINVAL},
    {SYS_socket, {AF_INET, -1}, EINVAL},
    {SYS_socket, {ABOVE(AF_INET6), -1}, EINVAL},
    {SYS_socket, {AF_UNIX, SOCK_STREAM}, EAFNOSUPPORT},
    {SYS_socket, {AF_NETLINK, SOCK_RAW, NETLINK_ROUTE}, EAFNOSUPPORT},
    {SYS_socket, {AF_PACKET, SOCK_RAW}, EAFNOSUPPORT},
    {SYS_socketpair, BAD, EPERM},
    {SYS_bind, BAD, EPERM},
    {SYS_listen, BAD, EPERM},
    {SYS_accept4, {-1, 0, 0, 0}, EBADF},
    {SYS_connect, BAD, EBADF},
    {SYS_sendto, {-1, 0, 0}, EBADF},
    {SYS_sendmsg, BAD, EPERM},
    {SYS_recvmsg, BAD, EPERM},
    {SYS_ioctl, {-1, FIONREAD}, EBADF},
    {SYS_ioctl, {-1, FIONBIO}, EPERM},
    {SYS_clone, {CLONE_THREAD}, EINVAL}, /* not without what else threads share */
    {SYS_clone, {SIGCHLD}, EPERM},
    {SYS_clone3, BAD, ENOSYS},
    {SYS_execve, BAD, EPERM},
    {SYS_execveat, BAD, EPERM},
    {SYS_kill, {0, 0}, EPERM},
    {SYS_tgkill, BAD, EPERM},
    {SYS_ptrace, BAD, EPERM},
    {SYS_process_vm_readv, BAD, EPERM},
    {SYS_prlimit64, {0, -1}, EPERM},
    {SYS_prctl, {PR_SET_NAME, -1}, EPERM},
    {SYS_mount, BAD, EPERM},
    {SYS_unshare, {CLONE_FILES}, EPERM},
    {SYS_setresuid, {-1, -1, -1}, EPERM},
    {SYS_seccomp, BAD, EPERM},
    {NO_CALL_YET, BAD, ENOSYS},
    {SYS_getpid, BAD, 0},
};

/* Those of a worker and its supervisor come on top of their zygote's. */
static int install(enum filter filter)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        ((filter == FILTER_WORKER || filter == FILTER_SUPERVISOR) &&
         filter_install(FILTER_ZYGOTE) < 0))
        return -1;
    return filter_install(filter);
}

/* In a child under FILTER: CALL's errno, or 0. Or the signal that ended the child, negative. */
static int answer_under(enum filter filter, const struct filter_case *call)
{
    const long *arguments = call->arguments;
    pid_t pid = fork();
    int status;

    assert_true(pid >= 0);
    if (pid == 0) {
        if (install(filter) < 0)
            _exit(UINT8_MAX);
        errno = 0;
        (void)syscall(call->call, arguments[0], arguments[1], arguments[2], arguments[3], 0L, 0L);
        _exit(errno);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void check_cases(enum filter filter, const struct filter_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const int answer = answer_under(filter, &cases[i]);

        if (answer != cases[i].answer)
            fail_msg("case %zu: call %ld (%#lx, %#lx): %d, not %d", i, cases[i].call,
                     cases[i].arguments[0], cases[i].arguments[1], answer, cases[i].answer);
    }
}

static void test_the_kernels_keys_and_namespaces_are_out_of_reach(void **state)
{
    (void)state;
    check_cases(FILTER_KERNEL, kernel_cases, ARRAY_SIZE(kernel_cases));
    check_cases(FILTER_KERNEL, file_cases, ARRAY_SIZE(file_cases));
}

static void test_other_processes_keep_their_limits(void **state)
{
    (void)state;
    check_cases(FILTER_OTHER_PROCESSES, process_cases, ARRAY_SIZE(process_cases));
}

static void test_a_sandbox_has_the_listed_calls(void **state)
{
    (void)state;
    check_cases(FILTER_SANDBOX, sandbox_cases, ARRAY_SIZE(sandbox_cases));
    check_cases(FILTER_SANDBOX, online_cases, ARRAY_SIZE(online_cases));
    check_cases(FILTER_SANDBOX, file_cases, ARRAY_SIZE(file_cases));
    check_cases(FILTER_SANDBOX, supervisor_cases, ARRAY_SIZE(supervisor_cases));
}

static void test_a_worker_has_the_same_calls(void **state)
{
    (void)state;
    check_cases(FILTER_WORKER, sandbox_cases, ARRAY_SIZE(sandbox_cases));
    check_cases(FILTER_WORKER, online_cases, ARRAY_SIZE(online_cases));
    check_cases(FILTER_WORKER, file_cases, ARRAY_SIZE(file_cases));
    check_cases(FILTER_WORKER, program_cases, ARRAY_SIZE(program_cases));
}

static void test_the_supervisor_of_a_worker_has_them_too(void **state)
{
    (void)state;
    check_cases(FILTER_SUPERVISOR, sandbox_cases, ARRAY_SIZE(sandbox_cases));
    check_cases(FILTER_SUPERVISOR, online_cases, ARRAY_SIZE(online_cases));
    check_cases(FILTER_SUPERVISOR, file_cases, ARRAY_SIZE(file_cases));
    check_cases(FILTER_SUPERVISOR, watching_cases, ARRAY_SIZE(watching_cases));
}

static void test_a_sandbox_without_a_network_has_no_socket_of_one(void **state)
{
    (void)state;
    check_cases(FILTER_SANDBOX_OFFLINE, sandbox_cases, ARRAY_SIZE(sandbox_cases));
    check_cases(FILTER_SANDBOX_OFFLINE, offline_cases, ARRAY_SIZE(offline_cases));
    check_cases(FILTER_SANDBOX_OFFLINE, file_cases, ARRAY_SIZE(file_cases));
}

static void test_files_of_a_shared_root_stay_as_they_are(void **state)
{
    (void)state;
    check_cases(FILTER_SHARED_ROOT, shared_root_cases, ARRAY_SIZE(shared_root_cases));
}

static void test_a_proxy_connects_and_does_nothing_else(void **state)
{
    (void)state;
    check_cases(FILTER_PROXY, proxy_cases, ARRAY_SIZE(proxy_cases));
}

#ifdef __x86_64__
static const struct filter_case x32_getpid = {SYS_getpid | 0x40000000, BAD, -SIGSYS};

static void test_a_foreign_entry_to_the_kernel_kills(void **state)
{
    (void)state;
    for (enum filter filter = FILTER_KERNEL; filter <= FILTER_PROXY; filter++)
        check_cases(filter, &x32_getpid, 1);
}

/* By the entry of 32-bit programs: call NUMBER, whose arguments are bad. */
static int answer_to_32_bits(enum filter filter, int number)
{
    pid_t pid = fork();
    int status;

    assert_true(pid >= 0);
    if (pid == 0) {
        int ret = number;

        if (install(filter) < 0)
            _exit(UINT8_MAX);
        __asm__ volatile("int $0x80"
                         : "+a"(ret)
                         : "b"(-1), "c"(-1), "d"(-1)
                         : "memory", "r8", "r9", "r10", "r11");
        _exit(ret < 0 ? -ret : 0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void test_programs_of_32_bits_are_filtered_or_killed(void **state)
{
    enum { GETPID_OF_32 = 20, MOUNT_OF_32 = 21, PRLIMIT64_OF_32 = 340, KEYCTL_OF_32 = 288 };

    (void)state;
    if (answer_to_32_bits(FILTER_KERNEL, GETPID_OF_32) == -SIGSEGV)
        skip(); /* the kernel has no such entry */
    assert_int_equal(answer_to_32_bits(FILTER_KERNEL, GETPID_OF_32), 0);
    assert_int_equal(answer_to_32_bits(FILTER_KERNEL, MOUNT_OF_32), EFAULT);
    assert_int_equal(answer_to_32_bits(FILTER_KERNEL, KEYCTL_OF_32), ENOSYS);
    assert_int_equal(answer_to_32_bits(FILTER_OTHER_PROCESSES, GETPID_OF_32), 0);
    assert_int_equal(answer_to_32_bits(FILTER_OTHER_PROCESSES, PRLIMIT64_OF_32), EPERM);
    assert_int_equal(answer_to_32_bits(FILTER_SANDBOX, GETPID_OF_32), -SIGSYS);
    assert_int_equal(answer_to_32_bits(FILTER_WORKER, GETPID_OF_32), -SIGSYS);
    assert_int_equal(answer_to_32_bits(FILTER_SANDBOX_OFFLINE, GETPID_OF_32), -SIGSYS);
    assert_int_equal(answer_to_32_bits(FILTER_PROXY, GETPID_OF_32), -SIGSYS);
}
#endif

static void test_a_filter_needs_no_new_privileges(void **state)
{
    pid_t pid = fork();
    int status;

    (void)state;
    assert_true(pid >= 0);
    if (pid == 0) {
        if (geteuid() == 0 && setresuid(65534, 65534, 65534) < 0)
            _exit(UINT8_MAX);
        _exit(filter_install(FILTER_KERNEL) < 0 ? errno : 0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), EACCES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_kernels_keys_and_namespaces_are_out_of_reach),
        cmocka_unit_test(test_other_processes_keep_their_limits),
        cmocka_unit_test(test_a_sandbox_has_the_listed_calls),
        cmocka_unit_test(test_a_worker_has_the_same_calls),
        cmocka_unit_test(test_the_supervisor_of_a_worker_has_them_too),
        cmocka_unit_test(test_a_sandbox_without_a_network_has_no_socket_of_one),
        cmocka_unit_test(test_files_of_a_shared_root_stay_as_they_are),
        cmocka_unit_test(test_a_proxy_connects_and_does_nothing_else),
#ifdef __x86_64__
        cmocka_unit_test(test_a_foreign_entry_to_the_kernel_kills),
        cmocka_unit_test(test_programs_of_32_bits_are_filtered_or_killed),
#endif
        cmocka_unit_test(test_a_filter_needs_no_new_privileges),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
