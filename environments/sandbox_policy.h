/* The policy of one sandboxed run: the paths that the operator opens, the paths that its Python
 * needs, and its working directory. */
#pragma once

#include "base/error.h"
#include "environments/gpu_files.h"
#include "environments/process/policy.h"

#include <stdbool.h>

struct environment;

struct sandbox_policy {
    struct process_sandbox sandbox; /* its paths are ENVIRONMENT's, or DIRECTORY */
    const char **read;              /* owned, but not its strings */
    const char **write;             /* owned, but not its strings */
    struct gpu_files gpu;           /* where the operator opens it; else empty */
};

/* The sandbox that ENVIRONMENT wants, without its paths. */
struct process_sandbox sandbox_policy_outline(const struct environment *environment);

/* -1 with ERR if no sandbox of ENVIRONMENT can work in DIRECTORY, a real path, as far as the paths
 * are known before it is prepared. */
int sandbox_policy_check_place(const struct environment *environment, const char *directory,
                               struct error *err);

/* True if DIRECTORY, a real path, is the home of the server's user or holds it. */
bool sandbox_policy_holds_home(const char *directory);

/* For a run of ENVIRONMENT, which is prepared, in a sandbox in DIRECTORY, whose annex is ANNEX or
 * NULL. All are borrowed until it is done with. -1 with ERR, and nothing to free: the run could
 * change its own Python. */
int sandbox_policy_init(struct sandbox_policy *policy, const struct environment *environment,
                        const char *directory, const char *annex, struct error *err);
void sandbox_policy_deinit(struct sandbox_policy *policy);
