/* Uses of files that are forbidden in every tree. */
#include "environments/process/filter/filter_rule.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

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
     * rights of its owner or group. openat2 has its mode out of a filter's sight (kernel_rules.c,
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
