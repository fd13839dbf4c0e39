#include "environments/process/host.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/process/control.h"
#include "environments/process/landlock.h"
#include "environments/process/spawn.h"
#include "environments/process/tree_private.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIDY_SECONDS    0.01 /* a cgroup is busy for about so long */
#define ORPHANS_SECONDS 5.0
#define RUNNER_KEY      "runner" /* of spares: one runner serves every program */

struct process_host {
    struct process_host_settings settings;
    bool without_namespaces;     /* the kernel refused them */
    bool without_cgroups;        /* they turned out to be of no use */
    struct cgroup_tree *cgroups; /* owned */
    json_t *missing;             /* owned */
    int runner;                  /* owned: the executable */
    struct list trees;           /* owned */
    unsigned long next_number;   /* of a tree */
    struct spares spares;        /* some of them */
    struct spare_maker runners;
    bool stopping;
    pid_t lingering; /* a zombie that the last look for orphans has seen */
    ev_timer tidy;
    ev_timer orphans;
    ev_prepare finish;
};

void host_note_missing(struct process_host *host, const char *what)
{
    if (process_receipt_add_missing(host->missing, what) && host->settings.missing)
        host->settings.missing(host->settings.data, what);
}

/* What holds a tree that is made now. Signals cannot leave a PID namespace, so Landlock is not
 * needed in one. */
static unsigned host_layers(const struct process_host *host)
{
    unsigned layers = host->settings.policy.wanted;

    if (host->without_namespaces)
        layers &= ~LAYER_PID_NAMESPACE;
    if (host->without_cgroups || !cgroup_tree_can_kill(host->cgroups))
        layers &= ~LAYER_CGROUP_KILL;
    if (layers & LAYER_PID_NAMESPACE || !landlock_can_scope_signals())
        layers &= ~LAYER_LANDLOCK;
    return layers;
}

bool host_is_refused(const struct process_host *host)
{
    unsigned required = host->settings.policy.required;

    return required && !(host_layers(host) & required);
}

static void note_missing_limits(struct process_host *host)
{
    if (host->without_cgroups || !cgroup_tree_limits_memory(host->cgroups))
        host_note_missing(host,
                          "memory limit of the whole tree: no writable cgroup with the memory "
                          "controller; the limit holds for each process");
    if (host->without_cgroups || !cgroup_tree_limits_processes(host->cgroups))
        host_note_missing(host,
                          geteuid() == 0
                              ? "process limit: no writable cgroup with the pids controller, and "
                                "the resource limit does not hold for uid 0"
                              : "process limit by cgroup: no writable cgroup with the pids "
                                "controller; the resource limit is used");
}

/* Lets a finished tree report and go, outside of every callback of its own. */
static void host_on_finish(struct ev_loop *loop, ev_prepare *watcher, int events)
{
    struct process_host *host = CONTAINER_OF(watcher, struct process_host, finish);

    (void)events;
    LIST_FOR_EACH_SAFE (&host->trees, link) {
        struct tree *tree = CONTAINER_OF(link, struct tree, link);

        if (tree->state != TREE_OVER)
            continue;
        list_remove(&tree->link);
        if (tree->process) {
            tree->process->tree = NULL;
            tree->process->ended(tree->process, &tree->end);
        }
        tree_free(tree);
        ev_timer_again(loop, &host->tidy);
    }
}

static struct spare *host_make_runner(struct spare_maker *maker)
{
    struct process_host *host = CONTAINER_OF(maker, struct process_host, runners);
    struct error ignored = ERROR_INIT; /* a call that needs a runner gets the same error */
    struct tree *tree;

    if (host_is_refused(host) || host->stopping)
        return NULL;
    tree = tree_new(host, &ignored);
    return tree ? &tree->spare : NULL;
}

static void host_on_tidy(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct process_host *host = CONTAINER_OF(timer, struct process_host, tidy);

    (void)events;
    if (cgroup_tree_finish(host->cgroups))
        ev_timer_stop(loop, timer);
}

/* Reaps zombies that a dead supervisor left to us, their subreaper (rule L7). Children of ours
 * are reaped by their pidfd at once, so a zombie that is seen twice is not one of them. */
static void host_on_orphans(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct process_host *host = CONTAINER_OF(timer, struct process_host, orphans);
    siginfo_t information;

    (void)loop;
    (void)events;
    for (;;) {
        information.si_pid = 0;
        if (waitid(P_ALL, 0, &information, WEXITED | WNOHANG | WNOWAIT) < 0 ||
            information.si_pid == 0)
            break;
        if (information.si_pid != host->lingering) {
            host->lingering = information.si_pid;
            return;
        }
        (void)waitpid(information.si_pid, NULL, WNOHANG);
    }
    host->lingering = 0;
}

struct process_host *process_host_new(const struct process_host_settings *settings,
                                      struct error *err)
{
    struct process_host *host;
    int runner = spawn_open(settings->runner_path, err);

    if (runner < 0)
        return NULL;
    host = NEW(struct process_host);
    host->settings = *settings;
    host->runner = runner;
    host->missing = json_array();
    host->cgroups = cgroup_tree_new();
    list_init(&host->trees);
    note_missing_limits(host);
    signal(SIGCHLD, SIG_DFL); /* if it was inherited as ignored, the kernel would reap */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    ev_timer_init(&host->tidy, host_on_tidy, 0., TIDY_SECONDS);
    host->runners = (struct spare_maker){.key = RUNNER_KEY, .count = 1, .make = host_make_runner};
    spares_init(&host->spares, settings->loop);
    spares_add(&host->spares, &host->runners);
    ev_timer_init(&host->orphans, host_on_orphans, ORPHANS_SECONDS, ORPHANS_SECONDS);
    ev_timer_start(settings->loop, &host->orphans);
    ev_prepare_init(&host->finish, host_on_finish);
    ev_prepare_start(settings->loop, &host->finish);
    return host;
}

void process_host_stop(struct process_host *host)
{
    host->stopping = true;
    LIST_FOR_EACH (&host->trees, link)
        tree_kill(CONTAINER_OF(link, struct tree, link));
}

bool process_host_is_idle(const struct process_host *host)
{
    return list_is_empty(&host->trees) && !ev_is_active(&host->tidy);
}

void process_host_free(struct process_host *host)
{
    if (!host)
        return;
    spares_deinit(&host->spares);
    ev_timer_stop(host->settings.loop, &host->tidy);
    ev_timer_stop(host->settings.loop, &host->orphans);
    ev_prepare_stop(host->settings.loop, &host->finish);
    cgroup_tree_free(host->cgroups);
    json_decref(host->missing);
    close(host->runner);
    free(host);
}

struct process_receipt process_host_receipt(const struct process_host *host)
{
    return (struct process_receipt){
        .layers = host_layers(host),
        .limiter = host->without_cgroups ? LIMITER_RLIMITS : cgroup_tree_limiter(host->cgroups),
        .missing = host->missing,
    };
}

struct ev_loop *host_loop(const struct process_host *host)
{
    return host->settings.loop;
}

int host_runner(const struct process_host *host)
{
    return host->runner;
}

struct cgroup_tree *host_cgroups(const struct process_host *host)
{
    return host->without_cgroups || cgroup_tree_is_empty(host->cgroups) ? NULL : host->cgroups;
}

unsigned long host_add(struct process_host *host, struct tree *tree)
{
    list_append(&host->trees, &tree->link);
    return host->next_number++;
}

const char *process_host_namespace_hint(void)
{
    static const struct {
        const char *path;
        char forbids;
        const char *hint;
    } settings[] = {
        {"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", '1',
         " (kernel.apparmor_restrict_unprivileged_userns=1)"},
        {"/proc/sys/kernel/unprivileged_userns_clone", '0',
         " (kernel.unprivileged_userns_clone=0)"},
        {"/proc/sys/user/max_user_namespaces", '0', " (user.max_user_namespaces=0)"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
        AUTO_CLOSE int fd = open(settings[i].path, O_RDONLY | O_CLOEXEC);
        char value[2] = "";

        if (fd >= 0 && read(fd, value, sizeof value) > 0 && value[0] == settings[i].forbids &&
            value[1] == '\n')
            return settings[i].hint;
    }
    return "";
}

/* The kernel has refused namespaces, and says TEXT. */
static void host_drop_namespaces(struct process_host *host, const char *text)
{
    AUTO_FREE char *what = memory_format("%s%s", text, process_host_namespace_hint());

    host_note_missing(host, what);
    host->without_namespaces = true;
    if (host_layers(host) == 0)
        host_note_missing(host, "signal scope: needs Landlock ABI 6 (Linux 6.12)");
}

static void host_drop_cgroups(struct process_host *host, const char *text)
{
    host_note_missing(host, text);
    host->without_cgroups = true;
    note_missing_limits(host);
}

/* A lack of memory, processes or descriptors passes; any other refusal would come again. */
static bool is_lasting(int number)
{
    return number != EAGAIN && number != ENOMEM && number != EMFILE && number != ENFILE;
}

bool host_adapt(struct process_host *host, const struct tree *tree, bool cgroups, int number,
                const char *text)
{
    if (!is_lasting(number) || !(tree->layers & LAYER_PID_NAMESPACE))
        return false;
    if (cgroups && !host->without_cgroups)
        host_drop_cgroups(host, text);
    else if (!cgroups && !host->without_namespaces)
        host_drop_namespaces(host, text);
    return !host_is_refused(host);
}

void host_retry(struct process_host *host, struct tree *tree)
{
    struct error err = ERROR_INIT;
    struct tree *other;

    if (!tree->process) {
        spares_refill(&host->spares);
        return;
    }
    other = tree_new(host, &err);
    if (other)
        other->code = STEAL_FD(tree->code);
    if (other && tree_run(other, tree->process, &tree->job, &tree->limits, &err) == 0)
        tree->process = NULL;
    else if (other)
        tree_kill(other);
}

struct tree *host_take(struct process_host *host, struct error *err)
{
    struct spare *spare;

    if (host_is_refused(host) || host->stopping) {
        host_refusal(host, err);
        return NULL;
    }
    spare = spares_take(&host->spares, RUNNER_KEY);
    return spare ? CONTAINER_OF(spare, struct tree, spare) : tree_new(host, err);
}

int host_refusal(const struct process_host *host, struct error *err)
{
    AUTO_FREE char *all = memory_copy_string("");
    size_t i;
    json_t *what;

    if (host->stopping)
        return error_set(err, ERROR_UNAVAILABLE, "the server is stopping");
    json_array_foreach (host->missing, i, what) {
        char *longer = memory_format("%s%s%s", all, i ? "; " : "", json_string_value(what));

        free(all);
        all = longer;
    }
    return error_set(err, ERROR_UNAVAILABLE,
                     "this machine cannot contain a run, so none is started: %s. The operator can "
                     "allow it with `containment: best-effort`",
                     all);
}
