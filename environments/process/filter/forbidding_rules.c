/* Filters that forbid a few calls and let all others pass. */
#include "environments/process/filter/filter_rule.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* Uses of files that are forbidden in every tree */

/* Without these flags open(2) has no mode, whatever is in its register. */
enum { OPENS_TO_MAKE = O_CREAT | (O_TMPFILE & ~O_DIRECTORY) };

enum { OF_OTHERS = S_ISUID | S_ISGID };

const struct filter_rule file_rules[] = {
    /* An open(2) of a leased file waits up to 45 s for the holder, and this can lease it again; the
     * right to read is enough for a lease. F_NOTIFY shows the work of other processes in a
     * directory. */
    {"fcntl fcntl64", EACCES, FILTER_IS, 1, F_SETLEASE},
    {"fcntl fcntl64", EACCES, FILTER_IS, 1, FILTER_SETDELEG},
    {"fcntl fcntl64", EACCES, FILTER_IS, 1, F_NOTIFY},
    /* A file with these bits that stays could be executed by every user of the machine, with the
     * rights of its owner or group. openat2 has its mode out of a filter's sight (kernel_rules,
     * worker_rules). */
    {"open", FILTER_ALLOW, FILTER_HAS_NOT, 1, OPENS_TO_MAKE},
    {"open", EPERM, FILTER_HAS, 2, OF_OTHERS},
    {"openat", FILTER_ALLOW, FILTER_HAS_NOT, 2, OPENS_TO_MAKE},
    {"openat", EPERM, FILTER_HAS, 3, OF_OTHERS},
    {"creat mknod", EPERM, FILTER_HAS, 1, OF_OTHERS},
    {"mknodat", EPERM, FILTER_HAS, 2, OF_OTHERS},
    {"chmod fchmod", EPERM, FILTER_HAS, 1, S_ISUID},
    {"fchmodat fchmodat2", EPERM, FILTER_HAS, 2, S_ISUID},
    /* A directory may have S_ISGID, but a filter cannot tell directories from files. So the call
     * does nothing, and programs that copy a directory with its mode go on. The kernel has given it
     * S_ISGID if the directory above has it. */
    {"chmod fchmod", 0, FILTER_HAS, 1, S_ISGID},
    {"fchmodat fchmodat2", 0, FILTER_HAS, 2, S_ISGID},
    {0},
};

/* The kernel */

static const struct filter_rule kernel_rules[] = {
    /* The quota of keys belongs to the user, and so to the server. */
    {"add_key request_key keyctl", ENOSYS},
    /* In a user namespace of its own a program would have capabilities. The flags of clone3 are out
     * of a filter's sight: the C library goes on with clone. */
    {"clone unshare", EPERM, FILTER_HAS, 0, CLONE_NEWUSER},
    {"clone3", ENOSYS},
    {"openat2", ENOSYS}, /* see file_rules; programs go on with openat */
    /* Programs that keep secrets ask to be undumpable, and some end at a failure. So the call does
     * nothing: an undumpable program would hide its files from the supervisor. */
    {"prctl", 0, FILTER_IS, 0, PR_SET_DUMPABLE},
    {0},
};

const struct filter_rules kernel_filter = {
    .name = "FILTER_KERNEL",
    .tables = {kernel_rules, file_rules},
    .otherwise = FILTER_ALLOW,
    .unknown = FILTER_ALLOW,
};

/* Other processes */

enum { IO_PRIORITY_OF_USER = 3 }; /* from linux/ioprio.h */

/* The process that a call acts on must be 0, the caller; no call acts on all processes of a user.
 */
static const struct filter_rule process_rules[] = {
    {"prlimit64", EPERM, FILTER_IS_NOT, 0, 0},
    {"sched_setaffinity sched_setattr sched_setparam sched_setscheduler", EPERM, FILTER_IS_NOT, 0,
     0},
    {"setpriority ioprio_set", EPERM, FILTER_IS_NOT, 1, 0},
    {"setpriority", EPERM, FILTER_IS, 0, PRIO_USER},
    {"ioprio_set", EPERM, FILTER_IS, 0, IO_PRIORITY_OF_USER},
    {0},
};

const struct filter_rules process_filter = {
    .name = "FILTER_OTHER_PROCESSES",
    .tables = {process_rules},
    .otherwise = FILTER_ALLOW,
    .unknown = FILTER_ALLOW,
};

/* The machine's root */

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
