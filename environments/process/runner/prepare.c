#include "environments/process/runner/prepare.h"

#include "base/starter/starter.h"
#include "environments/process/filter/filter.h"
#include "environments/process/runner/files.h"
#include "environments/process/runner/identity.h"
#include "environments/process/runner/kernel.h"
#include "environments/process/runner/message.h"
#include "environments/process/runner/mounts.h"
#include "environments/process/runner/network.h"
#include "environments/process/runner/proc.h"
#include "environments/process/runner/root.h"
#include "environments/process/runner/runner.h"
#include "environments/process/runner/script.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static void enter_cgroups(char *const *directories)
{
    for (; *directories; directories++) {
        char path[4096];

        snprintf(path, sizeof path, "%s/cgroup.procs", *directories);
        runner_need(NEED_CGROUPS, kernel_write(path, "0"), "cannot enter a cgroup");
    }
}

/* With LAYER_UID the user namespace comes last (identity.c). */
static void enter_namespaces(const struct runner_preparation *preparation)
{
    bool is_root = preparation->layers & LAYER_UID;
    unsigned user = is_root ? 0 : CLONE_NEWUSER;
    uid_t uid = geteuid();
    gid_t gid = getegid();

    runner_need(is_root ? NEED_UID : NEED_NAMESPACES,
                unshare((int)(user | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC)),
                "user, mount, PID and IPC namespaces: unshare");
    if (user)
        runner_need(NEED_NAMESPACES, identity_map_own(uid, gid), "cannot map its ids");
}

/* Gives the machine another name and hides its cgroups. The tree's own cgroup was entered before.
 */
static void enter_names(void)
{
    runner_need(NEED_ROOT, unshare(CLONE_NEWUTS | CLONE_NEWCGROUP),
                "UTS and cgroup namespaces: unshare");
    runner_need(NEED_ROOT, sethostname("sandbox", strlen("sandbox")), "cannot set the host name");
}

static void enter_network(void)
{
    runner_need(NEED_NETWORK, unshare(CLONE_NEWNET), "network namespace: unshare");
    runner_need(NEED_NETWORK, network_prepare(), "cannot prepare an own network");
}

void prepare_tree(struct runner_preparation *preparation)
{
    if (preparation->layers & LAYER_PID_NAMESPACE) {
        /* Ahead of time, because joining costs a grace period of the kernel: 8 ms when idle. */
        enter_cgroups(preparation->cgroups);
        if (preparation->layers & LAYER_UID)
            identity_prepare(preparation);
        enter_namespaces(preparation);
        if (preparation->layers & LAYER_ROOT)
            enter_names();
        if (preparation->layers & LAYER_NETWORK)
            enter_network();
        preparation->has_mounts = true;
    } else {
        preparation->has_mounts = unshare(CLONE_NEWNS | CLONE_NEWIPC) == 0; /* as root may */
    }
}

static void preparation_add_missing(struct runner_preparation *preparation, const char *what)
{
    size_t length = strlen(preparation->missing);

    snprintf(preparation->missing + length, sizeof preparation->missing - length, "%s%s: %s",
             length ? "; " : "", what, strerror(errno));
}

/* A /proc with the processes of the program only. Where parts of /proc are covered, as in a
 * container, the kernel refuses a new one. Runs work without it, so they are not refused. */
static bool preparation_mount_proc(struct runner_preparation *preparation)
{
    if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0)
        return true;
    if (errno != EPERM)
        runner_refuse(NEED_NAMESPACES, "cannot mount /proc");
    preparation_add_missing(preparation, "own /proc (the script sees the host's)");
    return false;
}

/* A program under the uid that owns the cgroups could move out of its own, or lift the limits. */
static void cover_cgroups(void)
{
    struct stat status;

    if (stat("/sys/fs/cgroup", &status) < 0)
        return;
    runner_need(NEED_NAMESPACES,
                mount("none", "/sys/fs/cgroup", "tmpfs",
                      MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=4k,mode=0555"),
                "cannot cover /sys/fs/cgroup");
}

/* Notes that uid 0 could change /proc and /sys without a capability. */
static void note_open_kernel(struct runner_preparation *preparation)
{
    errno = EPERM;
    if (geteuid() == 0)
        preparation_add_missing(preparation, "read-only /proc and /sys");
}

/* Some containers do not allow changes of mounts. Then a mount namespace is of no use. */
static void prepare_mounts_alone(struct runner_preparation *preparation)
{
    preparation->has_mounts =
        preparation->has_mounts && mounts_can_seal() && mounts_make_private(false) == 0;
    if (!preparation->has_mounts)
        note_open_kernel(preparation);
}

/* Seals the kernel, in the machine's root. A program that no sandbox holds writes files of its
 * processes, as it would outside of a tree, unless it is uid 0 (proc.h). */
static void prepare_kernel(struct runner_preparation *preparation)
{
    const bool has_proc = preparation_mount_proc(preparation);

    if (*preparation->cgroups)
        cover_cgroups();
    runner_need(NEED_NAMESPACES, mounts_seal_kernel(), "cannot make /proc and /sys read-only");
    if (has_proc && !(preparation->layers & LAYERS_OF_SANDBOX) && !proc_is_owned())
        runner_need(NEED_NAMESPACES, proc_open_processes(), "cannot open files of processes");
}

static void prepare_mounts(struct runner_preparation *preparation)
{
    runner_need(NEED_NAMESPACES, mounts_make_private(preparation->layers & LAYER_ROOT),
                "cannot make mounts private");
    script_prepare(preparation);
    /* The filter forbids them as well; here the kernel itself does, where it can be told. Outside a
     * user namespace the setting would hold for the whole machine. */
    if (!(preparation->layers & (LAYER_UID | LAYER_NURSERY)))
        (void)kernel_write("/proc/sys/user/max_user_namespaces", "0");
    if (preparation->layers & LAYER_ROOT) {
        runner_need(NEED_ROOT, root_prepare(preparation), "cannot make an own root");
        return;
    }
    prepare_kernel(preparation);
}

static enum filter choose_filter(const struct runner_preparation *preparation)
{
    if (preparation->layers & LAYER_NURSERY)
        return FILTER_ZYGOTE;
    if (preparation->layers & LAYER_OFFLINE)
        return FILTER_SANDBOX_OFFLINE;
    return preparation->layers & LAYER_CALLS ? FILTER_SANDBOX : FILTER_KERNEL;
}

/* A sandbox in the machine's root. */
static bool shares_root(const struct runner_preparation *preparation)
{
    return preparation->layers & LAYER_CALLS && !(preparation->layers & LAYER_ROOT);
}

void prepare_supervisor(struct runner_preparation *preparation)
{
    bool is_namespace = preparation->layers & LAYER_PID_NAMESPACE;

    preparation->starter = starter_open();
    identity_make_files(preparation, true);
    if (is_namespace)
        prepare_mounts(preparation);
    else
        prepare_mounts_alone(preparation); /* the program has yet to enter its cgroups */
    identity_make_files(preparation, false);
    if (preparation->layers & LAYER_FILES) {
        preparation->rules = files_prepare(preparation);
        runner_need(NEED_FILES, preparation->rules, "cannot make Landlock rules");
    }
    if (!is_namespace && prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
        runner_refuse(NEED_ALWAYS, "cannot become child subreaper");
    /* Filters need it. They are installed here and not in the program, because that takes time. */
    runner_need(NEED_ALWAYS, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "cannot set no_new_privs");
    /* The program runs under the same uid and must not trace its supervisor. */
    runner_need(NEED_ALWAYS, prctl(PR_SET_DUMPABLE, 0), "cannot become undumpable");
    if (filter_install(choose_filter(preparation)) < 0 ||
        (shares_root(preparation) && filter_install(FILTER_SHARED_ROOT) < 0) ||
        (!is_namespace && filter_install(FILTER_OTHER_PROCESSES) < 0))
        runner_refuse(NEED_ALWAYS, "cannot filter system calls by seccomp");
    /* A second way beside the lifeline, for a supervisor that is not scheduled in time. Without a
     * namespace it must live on to kill its descendants. */
    if (is_namespace)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
}
