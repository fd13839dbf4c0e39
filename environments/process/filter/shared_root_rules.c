#include "environments/process/filter/filter_rule.h"

#include <errno.h>
#include <sys/socket.h>

/* If a sandbox has no root of its own, Landlock protects the machine's files, with two gaps: the
 * owner of a file can change its mode, times and attributes; and a program can connect to the
 * sockets of services, such as an engine's, which gives all rights of root. No rule sees the owner.
 * So modes and times stay as they are, which most programs never notice. */
static const struct filter_rule shared_root_rules[] = {
    {"chmod fchmod fchmodat fchmodat2 utime utimes utimensat futimesat", 0},
    {"chown fchown lchown fchownat", EPERM},
    {"setxattr lsetxattr fsetxattr setxattrat", EOPNOTSUPP},
    {"removexattr lremovexattr fremovexattr removexattrat", EOPNOTSUPP},
    {"socket", EACCES, FILTER_IS, 0, AF_UNIX},
    /* A datagram socket of a pair can send to any name. */
    {"socketpair", EACCES, FILTER_HAS, 1, SOCK_DGRAM},
    {"shmget semget msgget", ENOSYS},
    /* It shows names of files in directories that cannot be listed, and when they are opened. */
    {"inotify_add_watch", EACCES},
    {0},
};

const struct filter_rules shared_root_filter = {
    .name = "FILTER_SHARED_ROOT",
    .tables = {shared_root_rules},
    .otherwise = FILTER_ALLOW,
    .unknown = FILTER_ALLOW,
};
