/* What this machine has for holding process trees, as far as is known: its cgroups, and what its
 * kernel has refused. From it and from what a process asks for comes the plan of a tree. */
#pragma once

#include "base/error.h"
#include "environments/process/absence.h"
#include "environments/process/cgroup_tree.h"
#include "environments/process/control.h"
#include "environments/process/policy.h"
#include "environments/process/receipt.h"

#include <jansson.h>
#include <stdbool.h>

struct machine {
    struct process_policy policy;
    struct absence absences[NEEDS];
    struct cgroup_tree *cgroups; /* owned */
    char *unusable;              /* owned: why it can follow no process at all; or NULL */
};

/* What a process asks for beside what every tree has. */
struct tree_wish {
    unsigned sandbox; /* layers */
    bool all;         /* without one of them there is no tree */
    unsigned needed;  /* likewise without one of these */
};

/* What a tree is to have, chosen before it is made. */
struct tree_plan {
    struct tree_wish wish;
    unsigned layers;             /* of enum process_layer */
    struct cgroup_tree *cgroups; /* borrowed; NULL: none can be used */
};

/* POLICY is copied. */
void machine_init(struct machine *machine, const struct process_policy *policy);
void machine_deinit(struct machine *machine);

/* For a run: without all that is known to be absent. */
struct tree_plan machine_plan(const struct machine *machine, const struct tree_wish *wish);

/* For a spare, which may be refused without harm: what is absent is tried again now and then. */
struct tree_plan machine_plan_of_spare(const struct machine *machine, const struct tree_wish *wish);

/* True when a tree with LAYERS is without a layer that WISH has to have. */
bool machine_wish_lacks(const struct tree_wish *wish, unsigned layers);

/* True when PLAN has less than is required. What is not kept from the files of others is no
 * sandbox. */
bool machine_falls_short(const struct machine *machine, const struct tree_plan *plan);

/* What this machine does not give to a tree with PLAN, one text for each. New reference. */
json_t *machine_missing(const struct machine *machine, const struct tree_plan *plan);

/* True, with ERR, when no process with WISH can be started: more is required than there is. */
bool machine_refuses(const struct machine *machine, const struct tree_wish *wish,
                     struct error *err);

/* A tree had LAYERS and, perhaps, CGROUPS. */
void machine_note_had(struct machine *machine, unsigned layers, bool cgroups);

/* A tree was refused what NEED says, with errno NUMBER, as TEXT says. True when that proves that
 * the machine does not have it. */
bool machine_note_refused(struct machine *machine, enum control_need need, int number,
                          const char *text);

/* True for a root that cannot have itself in a user namespace: that takes CAP_SETFCAP since
 * Linux 5.12. */
bool machine_lacks_capability(void);

/* What forbids user namespaces, such as " (user.max_user_namespaces=0)", or "" where that is none
 * of the usual settings and no capability. Static storage. */
const char *machine_namespace_hint(void);

/* The command that undoes it, or NULL where that setting is not the reason. Static storage. */
const char *machine_namespace_remedy(void);

/* What a tree with PLAN is held by; MISSING (borrowed) is what it is without. */
struct process_receipt tree_plan_receipt(const struct tree_plan *plan, const json_t *missing);
