/* Where processes are started: the runner executable, the layers of the kernel, the cgroups, and a
 * runner that is prepared ahead of time: a spare.
 *
 * The host learns by trying which layers the kernel gives. A runner that is refused a namespace
 * says so. If the refusal proves that the machine has none, the next trees are made without it, as
 * far as the policy allows, until a spare gets one again. A passing shortage is an error of the run
 * that meets it twice, and changes nothing for others. */
#pragma once

#include "base/error.h"
#include "environments/process/receipt.h"

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

struct process_host;

struct process_host_settings {
    struct ev_loop *loop;         /* borrowed */
    const char *runner_path;      /* absolute; needed only during process_host_new */
    const char *core_path;        /* the same; NULL, or no such file: no program starts as a copy */
    struct process_policy policy; /* of every process; tests of a fallback want less */

    /* Called once for each missing feature, which WHAT describes; may be NULL. */
    void (*missing)(void *data, const char *what);
    void *data;
};

/* Makes the host, removes cgroup leaves of dead servers, becomes child subreaper. Waits for
 * nothing. NULL with ERR set when the runner cannot be opened. */
struct process_host *process_host_new(const struct process_host_settings *settings,
                                      struct error *err);

/* Kills every process at once; `ended` of each still comes, from the loop. */
void process_host_stop(struct process_host *host);

/* True when no process and no prepared runner is left. */
bool process_host_is_idle(const struct process_host *host);

/* Frees an idle host. */
void process_host_free(struct process_host *host);

/* The receipt of the next process in SANDBOX, or in none, as far as is known. `missing` is borrowed
 * from the host until its loop runs again. */
struct process_receipt process_host_receipt(struct process_host *host,
                                            const struct process_sandbox *sandbox);

/* Pythons that have been started ahead of calls. */
struct process_ahead {
    unsigned waiting;       /* for their code */
    unsigned zygotes;       /* run no code, but are copied */
    uint64_t zygote_memory; /* bytes that zygotes have for themselves */
};

struct process_ahead process_host_ahead(struct process_host *host);

/* True when processes can be kept from the files of the machine in SANDBOX, as far as is known.
 * Layers that this kernel has refused are tried again now and then. */
bool process_host_has_sandbox(struct process_host *host, const struct process_sandbox *sandbox);

/* Before any run: finds out whether this machine has a sandbox, if only a trial shows it. Runs the
 * loop for a moment. */
void process_host_try_sandbox(struct process_host *host);

/* The same for a root of its own. */
void process_host_try_root(struct process_host *host);

/* False as long as nothing is known of this machine: its first spare is being prepared. */
bool process_host_has_tried(const struct process_host *host);

/* The CPUs that processes may use (cpu_share.h), as it was when the host was made. */
double process_host_cpus(const struct process_host *host);

/* The origin of an object, such as a socket, of which the kernel tells the control group. */
enum process_origin {
    PROCESS_ORIGIN_UNKNOWN, /* not every tree is held by a v2 control group of its own */
    PROCESS_ORIGIN_OUTSIDE,
    PROCESS_ORIGIN_TREE,
};

/* The origin of an object in the v2 control group CGROUP, an id as the kernel gives it. */
enum process_origin process_host_origin(const struct process_host *host, uint64_t cgroup);
