/* The system calls of a program in a sandbox. A call that is not named is refused (EPERM). If
 * programs try a newer call first, the answer is that the kernel lacks it (ENOSYS): then they go on
 * with the older call. */
#include "environments/process/filter/filter_rule.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <linux/netlink.h>
#include <linux/prctl.h>
#include <netinet/in.h>
#include <sched.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/socket.h>

/* Debian 12's headers lack some constants. The flags of clone have no bit for CLONE_NEWTIME. */
enum {
    NAMESPACES_OF_CLONE = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                          CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET,
    NAMESPACES_OF_UNSHARE = NAMESPACES_OF_CLONE | 0x80,
    ASK_FOR_PERSONALITY = -1,
    BITS_OF_FAMILIES = AF_UNIX | AF_INET | AF_INET6 | AF_NETLINK,
    BITS_OF_PROTOCOLS = IPPROTO_TCP | IPPROTO_UDP | IPPROTO_ICMP | IPPROTO_ICMPV6,
    BITS_OF_OTHER_TYPES = 0xc,   /* SOCK_RDM and above: not SOCK_STREAM, SOCK_DGRAM and SOCK_RAW */
    LEVEL_OF_IPV6 = 41,          /* IPPROTO_IPV6 */
    LABELS_OF_IPV6 = 32,         /* IPV6_FLOWLABEL_MGR */
    NAME_OF_MEMORY = 0x53564d41, /* PR_SET_VMA */
    WRITE_XOR_EXECUTE = 65,      /* PR_SET_MDWE, and PR_GET_MDWE */
};

static const struct filter_rule sandbox_rules[] = {
    /* Reading and writing */
    {"read readv pread64 preadv preadv2 write writev pwrite64 pwritev pwritev2 lseek",
     FILTER_ALLOW},
    {"sendfile splice tee copy_file_range readahead fadvise64 cachestat", FILTER_ALLOW},
    {"fsync fdatasync sync syncfs sync_file_range", FILTER_ALLOW},

    /* Files by name */
    {"open openat openat2 creat access faccessat faccessat2", FILTER_ALLOW},
    {"stat lstat newfstatat statx statfs readlink readlinkat", FILTER_ALLOW},
    {"mkdir mkdirat rmdir mknod mknodat link linkat symlink symlinkat", FILTER_ALLOW},
    {"unlink unlinkat rename renameat renameat2 truncate", FILTER_ALLOW},
    {"chmod fchmodat fchmodat2 chown lchown fchownat", FILTER_ALLOW},
    {"utime utimes utimensat futimesat chdir getcwd umask", FILTER_ALLOW},
    {"getxattr lgetxattr listxattr llistxattr getxattrat listxattrat", FILTER_ALLOW},
    {"setxattr lsetxattr removexattr lremovexattr setxattrat removexattrat", FILTER_ALLOW},
    {"inotify_init inotify_init1 inotify_add_watch inotify_rm_watch", FILTER_ALLOW},

    /* Open files */
    {"close close_range dup dup2 dup3 fcntl flock", FILTER_ALLOW},
    {"fstat fstatfs getdents getdents64 fchdir ftruncate fallocate fchmod fchown", FILTER_ALLOW},
    {"fgetxattr flistxattr fsetxattr fremovexattr", FILTER_ALLOW},
    {"pipe pipe2 eventfd eventfd2 signalfd signalfd4 memfd_create", FILTER_ALLOW},
    /* The next two put characters into the input of a terminal, which is the user's. */
    {"ioctl", EPERM, FILTER_IS, 1, TIOCSTI},
    {"ioctl", EPERM, FILTER_IS, 1, TIOCLINUX},
    {"ioctl", FILTER_ALLOW},

    /* Waiting for several descriptors */
    {"poll ppoll select pselect6", FILTER_ALLOW},
    {"epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2", FILTER_ALLOW},

    /* Memory */
    {"brk mmap munmap mremap mprotect msync madvise mincore mseal", FILTER_ALLOW},
    {"mlock mlock2 mlockall munlock munlockall", FILTER_ALLOW},
    {"pkey_alloc pkey_free pkey_mprotect map_shadow_stack membarrier", FILTER_ALLOW},

    /* Processes and threads. The flags of clone3 are out of a filter's sight. */
    {"clone", EPERM, FILTER_HAS, 0, NAMESPACES_OF_CLONE},
    {"unshare", EPERM, FILTER_HAS, 0, NAMESPACES_OF_UNSHARE},
    {"clone unshare fork vfork execve execveat exit exit_group", FILTER_ALLOW},
    {"clone3", ENOSYS},
    {"wait4 waitid pidfd_open pidfd_send_signal", FILTER_ALLOW},
    {"getpid getppid gettid getpgrp getpgid setpgid getsid setsid", FILTER_ALLOW},
    {"set_tid_address set_robust_list get_robust_list rseq arch_prctl", FILTER_ALLOW},
    {"futex futex_waitv futex_wait futex_wake futex_requeue restart_syscall", FILTER_ALLOW},

    /* Signals */
    {"kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pause sigaltstack", FILTER_ALLOW},
    {"rt_sigaction rt_sigprocmask rt_sigpending rt_sigsuspend rt_sigtimedwait rt_sigreturn",
     FILTER_ALLOW},

    /* Time */
    {"clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time times", FILTER_ALLOW},
    {"alarm getitimer setitimer", FILTER_ALLOW},
    {"timer_create timer_delete timer_getoverrun timer_gettime timer_settime", FILTER_ALLOW},
    {"timerfd_create timerfd_gettime timerfd_settime", FILTER_ALLOW},

    /* Scheduling and limits: they end at the PID namespace, or are restricted by
     * FILTER_OTHER_PROCESSES */
    {"sched_yield sched_getaffinity sched_setaffinity sched_getattr sched_setattr", FILTER_ALLOW},
    {"sched_getparam sched_setparam sched_getscheduler sched_setscheduler", FILTER_ALLOW},
    {"sched_get_priority_max sched_get_priority_min sched_rr_get_interval", FILTER_ALLOW},
    {"getpriority setpriority ioprio_get ioprio_set", FILTER_ALLOW},
    {"getrlimit setrlimit prlimit64 getrusage", FILTER_ALLOW},

    /* Users */
    {"getuid geteuid getresuid setuid setreuid setresuid setfsuid", FILTER_ALLOW},
    {"getgid getegid getresgid setgid setregid setresgid setfsgid getgroups setgroups",
     FILTER_ALLOW},

    /* The machine */
    {"uname sysinfo getcpu getrandom", FILTER_ALLOW},
    {"personality", FILTER_ALLOW, FILTER_IS, 0, PER_LINUX},
    {"personality", FILTER_ALLOW, FILTER_IS, 0, (uint32_t)ASK_FOR_PERSONALITY},

    /* Sockets. Netlink lists the addresses (getifaddrs, if_nameindex); changing them takes a
     * capability. */
    {"socket", FILTER_ALLOW, FILTER_IS, 0, AF_UNIX},
    {"socket", EAFNOSUPPORT, FILTER_HAS, 0, ~(uint32_t)BITS_OF_FAMILIES},
    {"socket", EAFNOSUPPORT, FILTER_IS, 0, AF_UNSPEC},
    {"socket", EAFNOSUPPORT, FILTER_IS, 0, AF_PACKET},
    /* Of the internet's protocols, TCP, UDP and ping: not MPTCP, SCTP, UDP-Lite and others for
     * which the kernel would load a module that only scripts would use here. */
    {"socket", EPROTONOSUPPORT, FILTER_HAS, 2, ~(uint32_t)BITS_OF_PROTOCOLS},
    {"socket", EPROTONOSUPPORT, FILTER_IS, 2, IPPROTO_DCCP},
    {"socket", ESOCKTNOSUPPORT, FILTER_HAS, 1, BITS_OF_OTHER_TYPES},
    {"socket", FILTER_ALLOW, FILTER_IS, 0, AF_INET},
    {"socket", FILTER_ALLOW, FILTER_IS, 0, AF_INET6},
    {"socket", EAFNOSUPPORT, FILTER_IS_NOT, 0, AF_NETLINK},
    {"socket", EPROTONOSUPPORT, FILTER_IS_NOT, 2, NETLINK_ROUTE},
    /* The kernel makes two sockets of any family, and then looks whether the family has pairs. */
    {"socketpair", EAFNOSUPPORT, FILTER_IS_NOT, 0, AF_UNIX},
    {"socket socketpair bind connect listen accept accept4 shutdown", FILTER_ALLOW},
    {"sendto sendmsg sendmmsg recvfrom recvmsg recvmmsg", FILTER_ALLOW},
    /* Labels of IPv6 belong to a network, which may serve another run. */
    {"setsockopt", FILTER_ALLOW, FILTER_IS_NOT, 1, LEVEL_OF_IPV6},
    {"setsockopt", ENOPROTOOPT, FILTER_IS, 2, LABELS_OF_IPV6},
    {"getsockname getpeername getsockopt setsockopt", FILTER_ALLOW},

    /* Between processes */
    {"shmget shmat shmdt shmctl semget semop semtimedop semctl", FILTER_ALLOW},
    {"msgget msgsnd msgrcv msgctl", FILTER_ALLOW},
    {"mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr", FILTER_ALLOW},

    /* Settings of a process for itself. If it were undumpable, it would hide its files from the
     * supervisor. */
    {"prctl", 0, FILTER_IS, 0, PR_SET_DUMPABLE},
    {"prctl", FILTER_ALLOW, FILTER_IS, 0, PR_GET_DUMPABLE},
    {"prctl", FILTER_ALLOW, FILTER_IS, 0, PR_SET_NAME},
    {"prctl", FILTER_ALLOW, FILTER_IS, 0, PR_GET_NAME},
    {"prctl", FILTER_ALLOW, FILTER_IS, 0, NAME_OF_MEMORY},
    {"prctl", FILTER_ALLOW, FILTER_IS, 0, PR_SET_PDEATHSIG},
    {"prctl", FILTER_ALLOW, FILTER_IS, 0, PR_GET_PDEATHSIG},
    {"prctl", FILTER_ALLOW, FILTER_IS, 0, PR_SET_CHILD_SUBREAPER},
    {"prctl", FILTER_ALLOW, FILTER_IS, 0, PR_GET_CHILD_SUBREAPER},
    {"prctl", FILTER_ALLOW, FILTER_IS, 0, PR_SET_TIMERSLACK},
    {"prctl", FILTER_ALLOW, FILTER_IS, 0, PR_GET_TIMERSLACK},
    {"prctl", FILTER_ALLOW, FILTER_IS, 0, PR_GET_TIMING},
    {"prctl", FILTER_ALLOW, FILTER_IS, 0, PR_GET_TID_ADDRESS},
    {"prctl", FILTER_ALLOW, FILTER_IS, 0, PR_SET_THP_DISABLE},
    {"prctl", FILTER_ALLOW, FILTER_IS, 0, PR_GET_THP_DISABLE},
    {"prctl", FILTER_ALLOW, FILTER_IS, 0, PR_SET_NO_NEW_PRIVS},
    {"prctl", FILTER_ALLOW, FILTER_IS, 0, PR_GET_NO_NEW_PRIVS},
    {"prctl", FILTER_ALLOW, FILTER_IS, 0, PR_SET_SECCOMP},
    {"prctl", FILTER_ALLOW, FILTER_IS, 0, PR_GET_SECCOMP},
    {"prctl", FILTER_ALLOW, FILTER_IS, 0, PR_SET_KEEPCAPS},
    {"prctl", FILTER_ALLOW, FILTER_IS, 0, PR_GET_KEEPCAPS},
    {"prctl", FILTER_ALLOW, FILTER_IS, 0, PR_CAPBSET_READ},
    {"prctl", FILTER_ALLOW, FILTER_IS, 0, PR_CAPBSET_DROP},
    {"prctl", FILTER_ALLOW, FILTER_IS, 0, PR_CAP_AMBIENT},
    {"prctl", FILTER_ALLOW, FILTER_IS, 0, PR_GET_SECUREBITS},
    {"prctl", FILTER_ALLOW, FILTER_IS, 0, PR_SET_SPECULATION_CTRL},
    {"prctl", FILTER_ALLOW, FILTER_IS, 0, PR_GET_SPECULATION_CTRL},
    {"prctl", FILTER_ALLOW, FILTER_IS, 0, WRITE_XOR_EXECUTE},
    {"prctl", FILTER_ALLOW, FILTER_IS, 0, WRITE_XOR_EXECUTE + 1},
    /* On ARM only: vectors, authenticated pointers, tagged addresses */
    {"prctl", FILTER_ALLOW, FILTER_IS, 0, PR_SVE_SET_VL},
    {"prctl", FILTER_ALLOW, FILTER_IS, 0, PR_SVE_GET_VL},
    {"prctl", FILTER_ALLOW, FILTER_IS, 0, PR_PAC_RESET_KEYS},
    {"prctl", FILTER_ALLOW, FILTER_IS, 0, PR_SET_TAGGED_ADDR_CTRL},
    {"prctl", FILTER_ALLOW, FILTER_IS, 0, PR_GET_TAGGED_ADDR_CTRL},
    {"capget seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self",
     FILTER_ALLOW},

    /* The supervisor makes the rest of the sandbox under this filter, because a second one would
     * cost time. A program has no capability, and so cannot mount. */
    {"capset mount umount2 pivot_root move_mount open_tree mount_setattr sethostname",
     FILTER_ALLOW},
    {"setns", FILTER_ALLOW, FILTER_IS, 1, CLONE_NEWUSER},

    /* The supervisor measures memory that processes share. */
    {"kcmp", FILTER_ALLOW, FILTER_IS, 2, KCMP_VM},

    /* Absent for programs, which do not try them again: io_uring, whose work no filter sees; new
     * calls that read the table of mounts; memory that the kernel itself cannot see; kernel AIO. */
    {"io_uring_setup io_uring_enter io_uring_register", ENOSYS},
    {"io_setup io_submit io_getevents io_pgetevents io_cancel io_destroy", ENOSYS},
    {"statmount listmount open_tree_attr memfd_secret", ENOSYS},
    {"file_getattr file_setattr lsm_get_self_attr lsm_set_self_attr lsm_list_modules", ENOSYS},
    {"add_key request_key keyctl", ENOSYS},
    {0},
};

/* The error of a machine without a route: programs that connect know it, and report it. */
static const struct filter_rule offline_rules[] = {
    {"socket", ENETUNREACH, FILTER_IS, 0, AF_INET},
    {"socket", ENETUNREACH, FILTER_IS, 0, AF_INET6},
    {"socket", EAFNOSUPPORT, FILTER_IS, 0, AF_NETLINK},
    {0},
};

const struct filter_rules sandbox_filter = {
    .name = "FILTER_SANDBOX",
    .tables = {file_rules, sandbox_rules},
    .otherwise = EPERM,
    .unknown = ENOSYS,
    .is_native_only = true,
};

const struct filter_rules offline_filter = {
    .name = "FILTER_SANDBOX_OFFLINE",
    .tables = {offline_rules, file_rules, sandbox_rules},
    .otherwise = EPERM,
    .unknown = ENOSYS,
    .is_native_only = true,
};

/* Calls that a zygote may use. Its workers may not; their supervisors may until they are
 * undumpable. */
static const struct filter_rule zygote_rules[] = {
    {"clone unshare", FILTER_ALLOW},
    {"setns", FILTER_ALLOW, FILTER_IS, 1, CLONE_NEWNET},
    {"prctl", FILTER_ALLOW, FILTER_IS, 0, PR_SET_DUMPABLE},
    {0},
};

/* A supervisor needs this one as long as its tree is there. */
static const struct filter_rule worker_rules[] = {
    {"kcmp", EPERM},
    {0},
};

/* With openat2 a supervisor finds the paths of a policy; its mode is out of a filter's sight. */
static const struct filter_rule supervisor_rules[] = {
    {"openat2", ENOSYS},
    {"clone", EPERM, FILTER_HAS, 0, NAMESPACES_OF_CLONE},
    {"unshare", EPERM, FILTER_HAS, 0, NAMESPACES_OF_UNSHARE},
    {"setns", EPERM, FILTER_IS, 1, CLONE_NEWNET},
    {"prctl", 0, FILTER_IS, 0, PR_SET_DUMPABLE},
    {0},
};

const struct filter_rules worker_filter = {
    .name = "FILTER_WORKER",
    .tables = {worker_rules, supervisor_rules},
    .otherwise = FILTER_ALLOW,
    .unknown = FILTER_ALLOW,
    .is_native_only = true,
};

const struct filter_rules supervisor_filter = {
    .name = "FILTER_SUPERVISOR",
    .tables = {supervisor_rules},
    .otherwise = FILTER_ALLOW,
    .unknown = FILTER_ALLOW,
    .is_native_only = true,
};

const struct filter_rules zygote_filter = {
    .name = "FILTER_ZYGOTE",
    .tables = {zygote_rules, file_rules, sandbox_rules},
    .otherwise = EPERM,
    .unknown = ENOSYS,
    .is_native_only = true,
};
