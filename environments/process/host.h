/* Where processes are started: the runner executable, the strongest containment that the kernel
 * gives, its cgroups, and one runner that is prepared ahead of time.
 *
 * What the kernel gives is found out by trying: a runner that is refused a namespace says so, and
 * the host goes on with the next weaker containment, which from then on every result names. */
#pragma once

#include "base/error.h"
#include "environments/process/containment.h"

#include <ev.h>
#include <jansson.h>
#include <stdbool.h>

struct process_host;

struct process_host_settings {
    struct ev_loop *loop;       /* borrowed */
    const char *runner_path;    /* absolute; needed only during process_host_new */
    bool allow_best_effort;     /* else processes are refused below CONTAINMENT_LANDLOCK */
    enum containment strongest; /* what is tried first; tests of a fallback start weaker */

    /* Told once for each thing that turns out to be missing; may be NULL. */
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

/* What the next process will be held by, as far as is known. */
enum containment process_host_containment(const struct process_host *host);

/* "cgroup v2", "cgroup v1" or "rlimits": what enforces limits. Static storage. */
const char *process_host_limits_by(const struct process_host *host);

/* What is missing and why, one string per feature; an empty array when all is there. Borrowed. */
const json_t *process_host_missing(const struct process_host *host);

/* The setting that forbids user namespaces, such as " (user.max_user_namespaces=0)", or "" where
 * none of the usual ones does. Static storage. */
const char *process_host_namespace_hint(void);
