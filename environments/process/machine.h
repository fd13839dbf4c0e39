/* The means of this machine to hold process trees, as far as is known: its cgroups, and the
 * refusals of its kernel. They and the wish of a process give the plan of a tree. */
#pragma once

#include "base/error.h"
#include "environments/process/cgroup_tree.h"
#include "environments/process/control.h"
#include "environments/process/policy.h"
#include "environments/process/receipt.h"

#include <jansson.h>
#include <stdbool.h>

/* A feature of the kernel that this machine turned out not to have, and is tried again after a
 * while. A refusal counts only if it proves the absence: a quota that is used up does not. */
struct absence {
    char *what;   /* owned: the refusal and its reason; NULL: none is known */
    double until; /* no attempt is made before; CLOCK_MONOTONIC seconds */
};

void absence_deinit(struct absence *absence);

/* True when errno NUMBER of a refusal proves that the machine lacks the feature, rather than a
 * shortage. */
bool absence_is_proven(int number);

/* Notes, with the text WHAT, that the feature was refused. */
void absence_note(struct absence *absence, const char *what);

/* Notes that the feature is there. */
void absence_end(struct absence *absence);

/* True when it is time to try again. */
bool absence_is_due(const struct absence *absence);

struct machine {
    struct process_policy policy;
    bool is_root; /* the server's user */
    struct absence absences[NEEDS];
    struct cgroup_tree *cgroups; /* owned */
    char *unusable;              /* owned: the reason why it can follow no process; or NULL */
};

/* Layers that a process asks for, beside the layers of every tree. */
struct tree_wish {
    unsigned sandbox; /* layers */
    bool all;         /* if a layer of `sandbox` is absent there is no tree */
    unsigned needed;  /* layers; if any is absent there is no tree */
};

/* The means of one tree, chosen before it is made. */
struct tree_plan {
    struct tree_wish wish;
    unsigned layers;             /* of enum process_layer */
    struct cgroup_tree *cgroups; /* borrowed; NULL: none can be used */
};

/* POLICY is copied. */
void machine_init(struct machine *machine, const struct process_policy *policy);
void machine_deinit(struct machine *machine);

/* The plan for a run: without any layer that is known to be absent. */
struct tree_plan machine_plan(const struct machine *machine, const struct tree_wish *wish);

/* The plan for a spare, which may be refused without harm: absent layers are tried again now and
 * then. */
struct tree_plan machine_plan_of_spare(const struct machine *machine, const struct tree_wish *wish);

bool machine_wishes_are_equal(const struct tree_wish *a, const struct tree_wish *b);

/* True when LAYERS lack a layer that WISH has to have. */
bool machine_wish_lacks(const struct tree_wish *wish, unsigned layers);

/* True when PLAN has less than is required. A sandbox must have at least one layer of
 * LAYERS_OF_FILES. */
bool machine_falls_short(const struct machine *machine, const struct tree_plan *plan);

/* The layers and limits that this machine does not give to a tree with PLAN, a text for each. New
 * reference. */
json_t *machine_missing(const struct machine *machine, const struct tree_plan *plan);

/* True, with ERR, when no process with WISH can be started: more is required than there is. */
bool machine_refuses(const struct machine *machine, const struct tree_wish *wish,
                     struct error *err);

/* Notes that a tree had LAYERS and, perhaps, CGROUPS. */
void machine_note_had(struct machine *machine, unsigned layers, bool cgroups);

/* Notes that a tree was refused NEED, with errno NUMBER; TEXT says so. True when this proves that
 * the machine does not have it. */
bool machine_note_refused(struct machine *machine, enum control_need need, int number,
                          const char *text);

/* True if we are root but cannot map root into a user namespace: since Linux 5.12 this takes
 * CAP_SETFCAP. */
bool machine_lacks_capability(void);

/* The reason why user namespaces are forbidden, such as " (user.max_user_namespaces=0)", or "" if
 * it is no usual setting and no capability. Static storage. */
const char *machine_namespace_hint(void);

/* The command that undoes it, or NULL if no setting is the reason. Static storage. */
const char *machine_namespace_remedy(void);

/* The receipt of a tree with PLAN, which lacks MISSING (borrowed). */
struct process_receipt tree_plan_receipt(const struct tree_plan *plan, const json_t *missing);
