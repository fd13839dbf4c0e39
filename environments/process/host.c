#include "environments/process/host.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "environments/process/absence.h"
#include "environments/process/control.h"
#include "environments/process/cpu_share.h"
#include "environments/process/landlock.h"
#include "environments/process/spawn.h"
#include "environments/process/tree_private.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIDY_SECONDS    0.01 /* a cgroup is busy for about so long */
#define ORPHANS_SECONDS 5.0
#define RUNNER_KEY      "runner" /* of spares: one runner serves every program */

struct process_host {
    struct process_host_settings settings;
    struct absence namespaces;
    struct absence cgroup_entry; /* cgroups are there, and cannot be entered */
    struct cgroup_tree *cgroups; /* owned */
    json_t *expected;            /* owned: what the next tree will not have, as far as is known */
    json_t *told;                /* owned: all that was ever missing */
    int runner;                  /* owned: the executable */
    double cpus;
    struct list trees;         /* owned */
    unsigned long next_number; /* of a tree */
    struct spares spares;      /* some of them */
    struct spare_maker runners;
    bool stopping;
    pid_t lingering; /* a zombie that the last look for orphans has seen */
    ev_timer tidy;
    ev_timer orphans;
    ev_prepare finish;
};

/* What a tree is to be held by, WITHOUT what is said to be absent. Signals cannot leave a PID
 * namespace, so Landlock is not needed in one. */
static struct tree_plan host_plan_without(const struct process_host *host, bool namespaces,
                                          bool cgroups)
{
    struct tree_plan plan = {.layers = host->settings.policy.wanted};

    if (!cgroups && !cgroup_tree_is_empty(host->cgroups))
        plan.cgroups = host->cgroups;
    if (namespaces)
        plan.layers &= ~LAYER_PID_NAMESPACE;
    if (!plan.cgroups || !cgroup_tree_can_kill(plan.cgroups))
        plan.layers &= ~LAYER_CGROUP_KILL;
    if (plan.layers & LAYER_PID_NAMESPACE || !landlock_can_scope_signals())
        plan.layers &= ~LAYER_LANDLOCK;
    return plan;
}

/* For a run: without all that is known to be absent. */
static struct tree_plan host_plan(const struct process_host *host)
{
    return host_plan_without(host, host->namespaces.what, host->cgroup_entry.what);
}

/* For a spare, which may be refused without harm: what is absent is tried again now and then. */
static struct tree_plan host_plan_of_spare(const struct process_host *host)
{
    return host_plan_without(host, host->namespaces.what && !absence_is_due(&host->namespaces),
                             host->cgroup_entry.what && !absence_is_due(&host->cgroup_entry));
}

static bool host_is_refused(const struct process_host *host)
{
    unsigned required = host->settings.policy.required;

    return required && !(host_plan(host).layers & required);
}

static void add_missing_limits(json_t *missing, const struct cgroup_tree *cgroups)
{
    if (!cgroups || !cgroup_tree_limits_memory(cgroups))
        process_receipt_add_missing(
            missing, "memory limit: no writable cgroup with the memory controller; measured ten "
                     "times a second in a PID namespace");
    if (!cgroups || !cgroup_tree_limits_processes(cgroups))
        process_receipt_add_missing(
            missing, geteuid() == 0
                         ? "process limit: no writable cgroup with the pids controller, and "
                           "the resource limit does not hold for uid 0"
                         : "process limit by cgroup: no writable cgroup with the pids "
                           "controller; the resource limit is used");
}

json_t *host_missing(const struct process_host *host, const struct tree_plan *plan)
{
    json_t *missing = json_array();

    if (host->namespaces.what && !(plan->layers & LAYER_PID_NAMESPACE)) {
        process_receipt_add_missing(missing, host->namespaces.what);
        if (!(plan->layers & LAYER_LANDLOCK))
            process_receipt_add_missing(missing, "signal scope: needs Landlock ABI 6 (Linux 6.12)");
    }
    if (host->cgroup_entry.what && !plan->cgroups)
        process_receipt_add_missing(missing, host->cgroup_entry.what);
    add_missing_limits(missing, plan->cgroups);
    return missing;
}

/* The next tree will be without MISSING, too. Each text is told once. */
static void host_expect(struct process_host *host, const json_t *missing)
{
    const json_t *what;
    size_t i;

    json_decref(host->expected);
    host->expected = json_copy((json_t *)missing);
    json_array_foreach (host->expected, i, what)
        if (process_receipt_add_missing(host->told, json_string_value(what)) &&
            host->settings.missing)
            host->settings.missing(host->settings.data, json_string_value(what));
}

static void host_expect_plan(struct process_host *host)
{
    const struct tree_plan plan = host_plan(host);
    AUTO_JSON json_t *missing = host_missing(host, &plan);

    host_expect(host, missing);
}

void host_note_ready(struct process_host *host, const struct tree *tree)
{
    if (tree->layers & LAYER_PID_NAMESPACE)
        absence_end(&host->namespaces);
    if (tree->leaf)
        absence_end(&host->cgroup_entry);
    host_expect(host, tree->missing);
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
    const struct tree_plan plan = host_plan_of_spare(host);
    struct error ignored = ERROR_INIT; /* a call that needs a runner gets the same error */
    struct tree *tree;

    if (host->stopping ||
        (host->settings.policy.required && !(plan.layers & host->settings.policy.required)))
        return NULL;
    tree = tree_new(host, &plan, &ignored);
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

/* A script's limit is lower, so that it cannot have so many descriptors on their way to others that
 * we could send none. */
static void raise_open_files(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
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
    host->cpus = cpu_share();
    host->told = json_array();
    host->cgroups = cgroup_tree_new();
    list_init(&host->trees);
    host_expect_plan(host);
    signal(SIGCHLD, SIG_DFL); /* if it was inherited as ignored, the kernel would reap */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    raise_open_files();
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
    absence_deinit(&host->namespaces);
    absence_deinit(&host->cgroup_entry);
    json_decref(host->expected);
    json_decref(host->told);
    close(host->runner);
    free(host);
}

/* Only where cgroups are covered can nothing leave its leaf. */
enum process_origin process_host_origin(const struct process_host *host, uint64_t cgroup)
{
    enum process_origin origin = PROCESS_ORIGIN_OUTSIDE;

    LIST_FOR_EACH (&host->trees, link) {
        const struct tree *tree = CONTAINER_OF(link, struct tree, link);
        uint64_t id = tree->leaf ? cgroup_leaf_id(tree->leaf) : 0;

        if (id == cgroup)
            return PROCESS_ORIGIN_TREE;
        if (id == 0 || !(tree->layers & LAYER_PID_NAMESPACE))
            origin = PROCESS_ORIGIN_UNKNOWN;
    }
    return origin;
}

struct process_receipt process_host_receipt(const struct process_host *host)
{
    const struct tree_plan plan = host_plan(host);

    return tree_plan_receipt(&plan, host->expected);
}

double process_host_cpus(const struct process_host *host)
{
    return host->cpus;
}

struct ev_loop *host_loop(const struct process_host *host)
{
    return host->settings.loop;
}

int host_runner(const struct process_host *host)
{
    return host->runner;
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

/* A limit of zero is answered like one that is used up, but a setting says which it is. */
static bool is_proof(int number, bool of_namespaces)
{
    return absence_is_proven(number) ||
           (of_namespaces && number == ENOSPC && *process_host_namespace_hint());
}

bool host_learn(struct process_host *host, const struct tree *tree, bool cgroups, int number,
                const char *text)
{
    AUTO_FREE char *what =
        memory_format("%s%s", text, cgroups ? "" : process_host_namespace_hint());

    if (!(tree->layers & LAYER_PID_NAMESPACE) || !is_proof(number, !cgroups))
        return tree->process && !tree->is_second;
    absence_note(cgroups ? &host->cgroup_entry : &host->namespaces, what);
    host_expect_plan(host);
    return !host_is_refused(host);
}

void host_retry(struct process_host *host, struct tree *tree)
{
    const struct tree_plan plan = host_plan(host);
    struct error err = ERROR_INIT;
    struct tree *other;

    if (!tree->process) {
        spares_refill(&host->spares);
        return;
    }
    other = tree_new(host, &plan, &err);
    if (!other)
        return;
    other->is_second = true;
    other->code = STEAL_FD(tree->code);
    if (tree_run(other, tree->process, &tree->job, &tree->limits, &err) == 0)
        tree->process = NULL;
    else
        tree_kill(other);
}

bool host_refuses(const struct process_host *host, struct error *err)
{
    AUTO_FREE char *all = memory_copy_string("");
    size_t i;
    json_t *what;

    if (host->stopping)
        return error_set(err, ERROR_UNAVAILABLE, "the server is stopping") < 0;
    if (!host_is_refused(host))
        return false;
    json_array_foreach (host->expected, i, what) {
        char *longer = memory_format("%s%s%s", all, i ? "; " : "", json_string_value(what));

        free(all);
        all = longer;
    }
    return error_set(err, ERROR_UNAVAILABLE,
                     "this machine cannot contain a run, so none is started: %s. The operator can "
                     "allow it with `containment: best-effort`",
                     all) < 0;
}

struct tree *host_take(struct process_host *host, struct error *err)
{
    const struct tree_plan plan = host_plan(host);
    struct spare *spare;

    if (host_refuses(host, err))
        return NULL;
    spare = spares_take(&host->spares, RUNNER_KEY);
    return spare ? CONTAINER_OF(spare, struct tree, spare) : tree_new(host, &plan, err);
}
