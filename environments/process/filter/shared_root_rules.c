#include "environments/process/filter/filter_rule.h"

#include <errno.h>
#include <sys/socket.h>

/* Where a sandbox has no root of its own, the machine's files are held by Landlock, and it lets
 * pass: who owns a file changes its mode, its times and its attributes; whoever may connects to the
 * sockets of services, of which one (an engine's) can do all that root can. No rule sees whose file
 * it is. So modes and times stay as they are, which most programs never notice. */
static const struct filter_rule shared_root_rules[] = {
    {"chmod fchmod fchmodat fchmodat2 utime utimes utimensat futimesat", 0},
    {"chown fchown lchown fchownat", EPERM},
    {"setxattr lsetxattr fsetxattr setxattrat", EOPNOTSUPP},
    {"removexattr lremovexattr fremovexattr removexattrat", EOPNOTSUPP},
    {"socket", EACCES, FILTER_IS, 0, AF_UNIX},
    /* A datagram can be sent from one of a pair to any name. */
    {"socketpair", EACCES, FILTER_HAS, 1, SOCK_DGRAM},
    {"shmget semget msgget", ENOSYS},
    /* It tells the names of files that nobody may list, and who opens them. */
    {"inotify_add_watch", EACCES},
    {0},
};

const struct filter_rules shared_root_filter = {
    .name = "FILTER_SHARED_ROOT",
    .tables = {shared_root_rules},
    .otherwise = FILTER_ALLOW,
    .unknown = FILTER_ALLOW,
};
