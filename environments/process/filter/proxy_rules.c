/* The calls of the proxy of a run (environments/egress/helper) from its first connection on: it
 * takes connections, lets the C library resolve names, connects, and passes bytes on. It makes no
 * listener, opens nothing to write, starts no program, and signals nobody. */
#include "environments/process/filter/filter_rule.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

enum { OPENS_TO_CHANGE = O_ACCMODE | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY) };

static const struct filter_rule proxy_rules[] = {
    /* Files that the resolver reads: its configuration, a list of hosts, modules */
    {"openat", EROFS, FILTER_HAS, 2, OPENS_TO_CHANGE},
    {"openat read pread64 lseek fcntl close", FILTER_ALLOW},
    {"stat fstat newfstatat statx", FILTER_ALLOW},

    /* The network of the machine. If a query of a local service, or of the machine's addresses,
     * fails, the C library goes on without it. */
    {"socket", FILTER_ALLOW, FILTER_IS, 0, AF_INET},
    {"socket", FILTER_ALLOW, FILTER_IS, 0, AF_INET6},
    {"socket", EAFNOSUPPORT},
    {"accept4 connect shutdown getsockname getpeername getsockopt setsockopt", FILTER_ALLOW},
    {"sendto sendmmsg recvfrom write writev poll ppoll", FILTER_ALLOW},
    {"ioctl", FILTER_ALLOW, FILTER_IS, 1, FIONREAD},

    /* Threads, and no process. The flags of clone3 are out of a filter's sight. */
    {"clone", FILTER_ALLOW, FILTER_HAS, 0, CLONE_THREAD},
    {"clone3", ENOSYS},
    {"set_robust_list rseq exit exit_group sched_getaffinity sched_yield getpid gettid",
     FILTER_ALLOW},
    {"futex futex_wait futex_wake restart_syscall rt_sigprocmask rt_sigreturn sigaltstack",
     FILTER_ALLOW},

    /* Memory, time, chance */
    {"brk mmap munmap mremap mprotect madvise", FILTER_ALLOW},
    {"clock_gettime clock_nanosleep nanosleep gettimeofday time", FILTER_ALLOW},
    {"getrandom uname", FILTER_ALLOW},
    {0},
};

const struct filter_rules proxy_filter = {
    .name = "FILTER_PROXY",
    .tables = {proxy_rules},
    .otherwise = EPERM,
    .unknown = ENOSYS,
    .is_native_only = true,
};
