/* A user of its own for the tree of a root server: root's quotas are the server's, too, and the
 * kernel does not hold limits of processes against root. Nobody else has its uid, and in its user
 * namespace it is still uid 0.
 *
 * On disk its files stay root's: mounts are shown through a map of owners. The kernel makes such
 * mounts only for root itself, so the program and its supervisor enter the user namespace only when
 * the program's paths are shown. */
#include "environments/process/runner/identity.h"

#include "environments/process/runner/kernel.h"
#include "environments/process/runner/message.h"
#include "environments/process/runner/program.h"
#include "environments/process/runner/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define IDENTITY_FIRST 0x70000000U /* up to 0x70ffffff: given to users by no distribution */
#define IDENTITY_LAST  0xfffffffeU /* the last uid */

enum { IDENTITY_BITS = 0x00ffffff, IDENTITY_STACK_BYTES = 16 * 1024, IDENTITY_GROUPS = 64 };

/* A process that shares our descriptors and our memory, and has a user namespace. */
struct identity_child {
    char stack[IDENTITY_STACK_BYTES] __attribute__((aligned(16)));
    unsigned id;
    bool is_alone; /* no process in it makes another namespace */
    int space;     /* the descriptor of its user namespace */
};

/* True with all capabilities that are needed here, and by the server to kill processes of another
 * uid. */
static bool identity_is_privileged(void)
{
    static const int needed[] = {CAP_CHOWN,  CAP_DAC_OVERRIDE, CAP_KILL,    CAP_NET_ADMIN,
                                 CAP_SETGID, CAP_SETPCAP,      CAP_SETUID,  CAP_SYS_ADMIN,
                                 CAP_FOWNER, CAP_SYS_PTRACE,   CAP_SETFCAP, CAP_DAC_READ_SEARCH};
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct held[_LINUX_CAPABILITY_U32S_3];

    if (syscall(SYS_capget, &header, held) < 0)
        return false;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!(held[CAP_TO_INDEX(needed[i])].effective & CAP_TO_MASK(needed[i])))
            return false;
    return true;
}

/* The new user must own the user namespace, or the kernel would charge root for its use. Root's
 * capabilities are kept until it is made: some machines let no other user make a namespace. */
static int identity_enter_new(unsigned id, bool is_alone)
{
    char map[64];

    snprintf(map, sizeof map, "0 %u 1", id);
    if (prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP) < 0 ||
        syscall(SYS_setresgid, id, id, id) < 0 || syscall(SYS_setresuid, id, id, id) < 0 ||
        prctl(PR_SET_DUMPABLE, 1) < 0 || unshare(CLONE_NEWUSER) < 0 ||
        kernel_write("/proc/self/setgroups", "deny") < 0 ||
        kernel_write("/proc/self/uid_map", map) < 0 || kernel_write("/proc/self/gid_map", map) < 0)
        return -1;
    /* The filter forbids them as well; here the kernel itself does, where it can be told. */
    if (is_alone)
        (void)kernel_write("/proc/sys/user/max_user_namespaces", "0");
    return open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
}

static int identity_run_user(void *data)
{
    struct identity_child *child = data;

    child->space = identity_enter_new(child->id, child->is_alone);
    return 0;
}

/* The namespace that the tree will be in. -1 with errno set. */
static int identity_make_user(unsigned id, bool is_alone)
{
    struct identity_child child = {.id = id, .is_alone = is_alone, .space = -1};
    pid_t pid = clone(identity_run_user, child.stack + sizeof child.stack,
                      CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD, &child);
    int number = errno;

    if (pid > 0)
        waitpid(pid, NULL, 0);
    errno = number;
    return child.space;
}

static int identity_run_owners(void *ignored)
{
    (void)ignored;
    while (pause() < 0)
        ;
    return 0;
}

static int identity_write_map(pid_t pid, const char *name, const char *map)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    return kernel_write(path, map);
}

/* Makes and opens the map of the namespace of PID: root's files are ID's, other users keep theirs.
 */
static int identity_open_owners(pid_t pid, unsigned id)
{
    char path[64];
    char map[128];

    snprintf(map, sizeof map, "0 %u 1\n1 1 %u\n%u %u %u\n", id, id - 1, id + 1, id + 1,
             IDENTITY_LAST - id);
    if (identity_write_map(pid, "uid_map", map) < 0 || identity_write_map(pid, "gid_map", map) < 0)
        return -1;
    snprintf(path, sizeof path, "/proc/%d/ns/user", (int)pid);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* A namespace that nobody is in: the map of owners. -1 with errno set. */
static int identity_make_owners(unsigned id)
{
    struct identity_child child;
    pid_t pid = clone(identity_run_owners, child.stack + sizeof child.stack,
                      CLONE_VM | CLONE_FILES | CLONE_NEWUSER | SIGCHLD, NULL);
    int space;
    int number;

    if (pid < 0)
        return -1;
    space = identity_open_owners(pid, id);
    number = errno;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    errno = number;
    return space;
}

/* The namespace is entered when the program is known, and a run cannot do without it then. Asked
 * for no namespace, a kernel that lets us enter one says so. -1 with errno set. */
static int identity_try_entering(void)
{
    return setns(-1, CLONE_NEWUSER) < 0 && errno == EBADF ? 0 : -1;
}

void identity_prepare(struct runner_preparation *preparation)
{
    unsigned number = 0;

    errno = EPERM;
    runner_need(NEED_UID, identity_is_privileged() ? 0 : -1, "a uid of its own");
    runner_need(NEED_UID, (int)getrandom(&number, sizeof number, 0), "a uid of its own");
    preparation->uid = IDENTITY_FIRST + (number & IDENTITY_BITS);
    runner_need(NEED_UID, identity_try_entering(), "a uid of its own: setns");
    preparation->user =
        identity_make_user(preparation->uid, !(preparation->layers & LAYER_NURSERY));
    runner_need(NEED_UID, preparation->user, "a uid of its own: cannot make its user namespace");
    preparation->owners = identity_make_owners(preparation->uid);
    runner_need(NEED_UID, preparation->owners, "a uid of its own: cannot map owners");
    /* The program may open its output again, by /dev/stdout. */
    if (fchown(STDOUT_FILENO, preparation->uid, preparation->uid) < 0 ||
        fchown(STDERR_FILENO, preparation->uid, preparation->uid) < 0 || setgroups(0, NULL) < 0)
        runner_refuse(NEED_UID, "a uid of its own");
}

void identity_make_files(const struct runner_preparation *preparation, bool as_program)
{
    unsigned id = as_program ? preparation->uid : 0;

    if (!(preparation->layers & LAYER_UID))
        return;
    setfsgid(id);
    setfsuid(id);
}

/* For the kernel the program is not root, which owns devices, but as a rule their groups may use
 * them. Other files of these groups stay out of its reach, because they are not shown. */
int identity_join(const struct runner_preparation *preparation, const struct program *program)
{
    gid_t groups[IDENTITY_GROUPS];
    size_t count = 0;

    if (!(preparation->layers & LAYER_UID))
        return 0;
    for (char **path = program->paths; *path && count < IDENTITY_GROUPS; path++) {
        struct stat status;

        if (**path == CONTROL_DEVICE && stat(*path + 1, &status) == 0 && status.st_gid != 0)
            groups[count++] = status.st_gid;
    }
    return count > 0 ? setgroups(count, groups) : 0;
}

int identity_take(const struct runner_preparation *preparation)
{
    if (!(preparation->layers & LAYER_UID))
        return 0;
    return setns(preparation->user, CLONE_NEWUSER) < 0 || setresgid(0, 0, 0) < 0 ||
                   setresuid(0, 0, 0) < 0
               ? -1
               : 0;
}

int identity_map_own(uid_t uid, gid_t gid)
{
    char users[64];
    char groups[64];

    snprintf(users, sizeof users, "%u %u 1", (unsigned)uid, (unsigned)uid);
    snprintf(groups, sizeof groups, "%u %u 1", (unsigned)gid, (unsigned)gid);
    return kernel_write("/proc/self/setgroups", "deny") < 0 ||
                   kernel_write("/proc/self/uid_map", users) < 0 ||
                   kernel_write("/proc/self/gid_map", groups) < 0
               ? -1
               : 0;
}
