#include "environments/process/machine.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/memory.h"
#include "environments/process/cgroup_leaf.h"
#include "environments/process/landlock.h"
#include "environments/process/receipt.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ABSENCE_TRY_AGAIN_SECONDS 60.0

#define MAX_NAMESPACES(KIND) "/proc/sys/user/max_" KIND "_namespaces"
#define MAX_USER_NAMESPACES  MAX_NAMESPACES("user")

void absence_deinit(struct absence *absence)
{
    free(absence->what);
    *absence = (struct absence){0};
}

bool absence_is_proven(int number)
{
    static const int proofs[] = {EPERM, EACCES, EROFS, EINVAL, E2BIG, ENOSYS, EOPNOTSUPP};

    for (size_t i = 0; i < ARRAY_SIZE(proofs); i++)
        if (number == proofs[i])
            return true;
    return false;
}

void absence_note(struct absence *absence, const char *what)
{
    absence_deinit(absence);
    absence->what = memory_copy_string(what);
    absence->until = clock_seconds() + ABSENCE_TRY_AGAIN_SECONDS;
}

void absence_end(struct absence *absence)
{
    absence_deinit(absence);
}

bool absence_is_due(const struct absence *absence)
{
    return absence->what && clock_seconds() >= absence->until;
}

/* The layers that are absent if NEED is. Own roots and networks are made in namespaces. */
static unsigned machine_layers_of(enum control_need need)
{
    static const unsigned layers[NEEDS] = {
        [NEED_NAMESPACES] = LAYER_PID_NAMESPACE | LAYER_ROOT | LAYER_NETWORK | LAYER_UID,
        [NEED_ROOT] = LAYER_ROOT | LAYER_UID,
        [NEED_NETWORK] = LAYER_NETWORK,
        [NEED_UID] = LAYER_UID,
        [NEED_FILES] = LAYER_FILES,
    };

    return layers[need];
}

/* Signals cannot leave a PID namespace, so Landlock is not needed for them in one. ABSENT has an
 * element for each of enum control_need. */
static struct tree_plan machine_plan_without(const struct machine *machine,
                                             const struct tree_wish *wish, const bool *absent)
{
    struct tree_plan plan = {
        .wish = *wish,
        .layers = machine->policy.wanted & (LAYERS_OF_TREES | wish->sandbox),
    };

    if (machine->is_root && plan.layers & LAYER_ROOT)
        plan.layers |= LAYER_UID;
    if (!absent[NEED_CGROUPS] && !cgroup_tree_is_empty(machine->cgroups))
        plan.cgroups = machine->cgroups;
    for (int need = 0; need < NEEDS; need++)
        if (absent[need])
            plan.layers &= ~machine_layers_of((enum control_need)need);
    if (!(plan.layers & LAYER_PID_NAMESPACE))
        plan.layers &= ~machine_layers_of(NEED_NAMESPACES);
    if (!plan.cgroups || !cgroup_tree_can_kill(plan.cgroups))
        plan.layers &= ~(unsigned)LAYER_CGROUP_KILL;
    if (plan.layers & LAYER_PID_NAMESPACE || !landlock_can_scope_signals())
        plan.layers &= ~(unsigned)LAYER_LANDLOCK;
    if (!landlock_can_hold_files())
        plan.layers &= ~(unsigned)LAYER_FILES;
    if (plan.layers & LAYER_CALLS && wish->sandbox & ~plan.layers & LAYER_NETWORK)
        plan.layers |= LAYER_OFFLINE;
    return plan;
}

struct tree_plan machine_plan(const struct machine *machine, const struct tree_wish *wish)
{
    bool absent[NEEDS];

    for (int need = 0; need < NEEDS; need++)
        absent[need] = machine->absences[need].what;
    return machine_plan_without(machine, wish, absent);
}

struct tree_plan machine_plan_of_spare(const struct machine *machine, const struct tree_wish *wish)
{
    bool absent[NEEDS];

    for (int need = 0; need < NEEDS; need++)
        absent[need] = machine->absences[need].what && !absence_is_due(&machine->absences[need]);
    return machine_plan_without(machine, wish, absent);
}

bool machine_wishes_are_equal(const struct tree_wish *a, const struct tree_wish *b)
{
    return a->sandbox == b->sandbox && a->all == b->all && a->needed == b->needed;
}

bool machine_wish_lacks(const struct tree_wish *wish, unsigned layers)
{
    return (wish->needed | (wish->all ? wish->sandbox : 0)) & ~layers;
}

bool machine_falls_short(const struct machine *machine, const struct tree_plan *plan)
{
    unsigned required = machine->policy.required;

    if (machine->unusable || (required && !(plan->layers & required)))
        return true;
    if (machine_wish_lacks(&plan->wish, plan->layers))
        return true;
    return plan->wish.sandbox && !(plan->layers & LAYERS_OF_FILES);
}

static void machine_add_missing_limits(const struct machine *machine, json_t *missing,
                                       const struct tree_plan *plan)
{
    const struct cgroup_tree *cgroups = plan->cgroups;

    if (!cgroups || !cgroup_tree_limits_memory(cgroups))
        process_receipt_add_missing(missing, MISSING_MEMORY_CGROUP
                                    "no writable cgroup with the memory controller; measured ten "
                                    "times a second in a PID namespace");
    if (!cgroups || !cgroup_tree_limits_processes(cgroups))
        process_receipt_add_missing(
            missing, machine->is_root && !(plan->layers & LAYER_UID)
                         ? "process limit: no writable cgroup with the pids controller, and "
                           "the resource limit does not hold for uid 0"
                         : MISSING_PROCESS_CGROUP "no writable cgroup with the pids "
                                                  "controller; the resource limit is used");
}

static void machine_add_missing_layer(json_t *missing, enum process_layer layer, const char *why)
{
    AUTO_FREE char *what = memory_format("%s: %s", process_layer_name(layer), why);

    process_receipt_add_missing(missing, what);
}

/* Adds to MISSING the layers of the wanted sandbox that PLAN does not have. */
static void machine_add_missing_sandbox(const struct machine *machine, json_t *missing,
                                        const struct tree_plan *plan)
{
    static const struct {
        enum process_layer layer;
        enum control_need need;
        const char *otherwise; /* the reason if there was no refusal */
    } layers[] = {
        {LAYER_ROOT, NEED_ROOT, "needs user namespaces"},
        {LAYER_NETWORK, NEED_NETWORK, "needs user namespaces"},
        {LAYER_FILES, NEED_FILES, "need Landlock (Linux 5.13)"},
    };
    unsigned absent = plan->wish.sandbox & ~plan->layers;

    for (size_t i = 0; i < ARRAY_SIZE(layers); i++) {
        const char *why = machine->absences[layers[i].need].what;

        if (absent & layers[i].layer)
            machine_add_missing_layer(missing, layers[i].layer, why ? why : layers[i].otherwise);
    }
    if (machine->absences[NEED_UID].what && plan->layers & LAYER_ROOT &&
        !(plan->layers & LAYER_UID))
        process_receipt_add_missing(missing, machine->absences[NEED_UID].what);
}

json_t *machine_missing(const struct machine *machine, const struct tree_plan *plan)
{
    const struct absence *namespaces = &machine->absences[NEED_NAMESPACES];
    const struct absence *cgroups = &machine->absences[NEED_CGROUPS];
    json_t *missing = json_array();

    if (namespaces->what && !(plan->layers & LAYER_PID_NAMESPACE)) {
        process_receipt_add_missing(missing, namespaces->what);
        if (!(plan->layers & LAYER_LANDLOCK))
            process_receipt_add_missing(missing, "signal scope: needs Landlock ABI 6 (Linux 6.12)");
    }
    machine_add_missing_sandbox(machine, missing, plan);
    if (cgroups->what && !plan->cgroups)
        process_receipt_add_missing(missing, cgroups->what);
    machine_add_missing_limits(machine, missing, plan);
    return missing;
}

void machine_note_had(struct machine *machine, unsigned layers, bool cgroups)
{
    static const struct {
        enum process_layer layer;
        enum control_need need;
    } had[] = {
        {LAYER_PID_NAMESPACE, NEED_NAMESPACES},
        {LAYER_ROOT, NEED_ROOT},
        {LAYER_NETWORK, NEED_NETWORK},
        {LAYER_UID, NEED_UID},
        {LAYER_FILES, NEED_FILES},
    };

    for (size_t i = 0; i < ARRAY_SIZE(had); i++)
        if (layers & had[i].layer)
            absence_end(&machine->absences[had[i].need]);
    if (cgroups)
        absence_end(&machine->absences[NEED_CGROUPS]);
}

/* Whether the kernel's setting at PATH is VALUE, a digit. */
static bool machine_setting_is(const char *path, char value)
{
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    char text[2] = "";

    return fd >= 0 && read(fd, text, sizeof text) > 0 && text[0] == value && text[1] == '\n';
}

/* The settings that forbid user namespaces, and the commands that allow them again. */
static const struct machine_setting {
    const char *path;
    char forbids;
    const char *hint;
    const char *remedy;
} machine_settings[] = {
    {"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", '1',
     " (kernel.apparmor_restrict_unprivileged_userns=1)",
     "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"},
    {"/proc/sys/kernel/unprivileged_userns_clone", '0', " (kernel.unprivileged_userns_clone=0)",
     "sudo sysctl -w kernel.unprivileged_userns_clone=1"},
    {MAX_USER_NAMESPACES, '0', " (user.max_user_namespaces=0)",
     "sudo sysctl -w user.max_user_namespaces=65536"},
};

/* The setting that forbids user namespaces; or NULL. */
static const struct machine_setting *machine_find_setting(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(machine_settings); i++)
        if (machine_setting_is(machine_settings[i].path, machine_settings[i].forbids))
            return &machine_settings[i];
    return NULL;
}

bool machine_lacks_capability(void)
{
    return geteuid() == 0 && prctl(PR_CAPBSET_READ, CAP_SETFCAP, 0, 0, 0) == 0;
}

const char *machine_namespace_hint(void)
{
    const struct machine_setting *setting = machine_find_setting();

    if (setting)
        return setting->hint;
    return machine_lacks_capability() ? " (root needs CAP_SETFCAP for them)" : "";
}

const char *machine_namespace_remedy(void)
{
    const struct machine_setting *setting = machine_find_setting();

    return setting ? setting->remedy : NULL;
}

/* If a limit is zero, the errno is the same as for a limit that is used up, so the setting is read.
 */
static bool machine_forbids(enum control_need need)
{
    static const char *const settings[NEEDS][4] = {
        [NEED_NAMESPACES] = {MAX_USER_NAMESPACES, MAX_NAMESPACES("mnt"), MAX_NAMESPACES("pid"),
                             MAX_NAMESPACES("ipc")},
        [NEED_ROOT] = {MAX_NAMESPACES("uts"), MAX_NAMESPACES("cgroup")},
        [NEED_NETWORK] = {MAX_NAMESPACES("net")},
        [NEED_UID] = {MAX_USER_NAMESPACES},
    };

    for (size_t i = 0; i < ARRAY_SIZE(settings[need]) && settings[need][i]; i++)
        if (machine_setting_is(settings[need][i], '0'))
            return true;
    return false;
}

static bool machine_is_proof(enum control_need need, int number)
{
    return absence_is_proven(number) || (number == ENOSPC && machine_forbids(need));
}

static bool machine_is_of_namespaces(enum control_need need)
{
    return need != NEED_CGROUPS && need != NEED_FILES;
}

bool machine_note_refused(struct machine *machine, enum control_need need, int number,
                          const char *text)
{
    AUTO_FREE char *what =
        memory_format("%s%s", text, machine_is_of_namespaces(need) ? machine_namespace_hint() : "");

    if (need == NEED_ALWAYS || !machine_is_proof(need, number))
        return false;
    absence_note(&machine->absences[need], what);
    return true;
}

/* All texts of MISSING, as one text. Owned by the caller. */
static char *machine_join(const json_t *missing)
{
    char *all = memory_copy_string("");
    const json_t *what;
    size_t i;

    json_array_foreach (missing, i, what) {
        char *longer = memory_format("%s%s%s", all, i ? "; " : "", json_string_value(what));

        free(all);
        all = longer;
    }
    return all;
}

/* Refuses a PLAN that falls short: returns -1, and ERR says of what. */
static int machine_refuse(const struct machine *machine, const struct tree_plan *plan,
                          struct error *err)
{
    AUTO_JSON json_t *missing = machine_missing(machine, plan);
    AUTO_FREE char *all = machine_join(missing);
    unsigned required = machine->policy.required;

    if (machine->unusable)
        return error_set(err, ERROR_UNAVAILABLE,
                         "this machine cannot follow a run to its end, so none is started: %s",
                         machine->unusable);
    if (required && !(plan->layers & required))
        return error_set(err, ERROR_UNAVAILABLE,
                         "this machine cannot contain a run, so none is started: %s. The operator "
                         "can allow it with `containment: best-effort`",
                         all);
    return error_set(err, ERROR_UNAVAILABLE,
                     "this machine cannot give the run its %s, so it is not started: %s",
                     plan->wish.sandbox ? "sandbox" : "script", all);
}

bool machine_refuses(const struct machine *machine, const struct tree_wish *wish, struct error *err)
{
    const struct tree_plan plan = machine_plan(machine, wish);

    return machine_falls_short(machine, &plan) && machine_refuse(machine, &plan, err) < 0;
}

/* Tries pidfds: without them a signal may hit another process that has got the pid. An error text,
 * owned by the caller; NULL: all work. */
static char *machine_try_pidfds(void)
{
    AUTO_CLOSE int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
    siginfo_t ignored;

    if (fd < 0)
        return memory_format("pidfd_open: %s (it needs Linux 5.4)", strerror(errno));
    if (syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0) < 0)
        return memory_format("pidfd_send_signal: %s", strerror(errno));
    if (waitid(P_PIDFD, (id_t)fd, &ignored, WEXITED | WNOHANG) < 0 && errno != ECHILD)
        return memory_format("waitid of a pidfd: %s (it needs Linux 5.4)", strerror(errno));
    return NULL;
}

void machine_init(struct machine *machine, const struct process_policy *policy)
{
    *machine = (struct machine){
        .policy = *policy,
        .is_root = geteuid() == 0,
        .cgroups = cgroup_tree_new(),
        .unusable = machine_try_pidfds(),
    };
}

void machine_deinit(struct machine *machine)
{
    cgroup_leaf_retire(machine->cgroups, 0);
    cgroup_tree_free(machine->cgroups);
    free(machine->unusable);
    for (int need = 0; need < NEEDS; need++)
        absence_deinit(&machine->absences[need]);
}

struct process_receipt tree_plan_receipt(const struct tree_plan *plan, const json_t *missing)
{
    return (struct process_receipt){
        .layers = plan->layers,
        .asked = plan->wish.sandbox,
        .limiter = plan->cgroups ? cgroup_tree_limiter(plan->cgroups) : LIMITER_RLIMITS,
        .missing = missing,
    };
}
