/* How a host starts Pythons ahead of their code: as workers of a zygote or, if there can be no
 * zygote, each alone. */
#include "base/clock.h"
#include "base/memory.h"
#include "environments/process/host_private.h"
#include "environments/process/nursery.h"
#include "environments/process/tree_private.h"

#include <sys/stat.h>
#include <unistd.h>

enum {
    MOST_ZYGOTES = 64, /* one for each client that comes again */
    MOST_PYTHONS = 64,
    WORKER_BYTES = 2 << 20, /* what a Python that waits has for itself, about */
    ALONE_BYTES = 10 << 20,
};

static struct tree *host_tree_of(struct waiting *waiting)
{
    return CONTAINER_OF(waiting, struct tree, waiting);
}

/* TREE, or NULL, may have failed already. */
static struct waiting *host_waiting(struct tree *tree)
{
    return tree && tree->state < TREE_EMPTYING ? &tree->waiting : NULL;
}

/* WAITING, or NULL, has BYTES. */
static struct waiting *host_measured(struct waiting *waiting, uint64_t bytes)
{
    if (waiting)
        waiting->memory = bytes;
    return waiting;
}

/* Scripts of others must not stop or end a Python that waits. */
static bool host_protects_waiting(const struct process_host *host, const struct tree_wish *wish)
{
    const struct tree_plan plan = machine_plan(host_machine(host), wish);

    return plan.layers & (LAYER_PID_NAMESPACE | LAYER_LANDLOCK);
}

static struct tree *host_begin_ahead(struct forecast *forecast)
{
    struct error ignored = ERROR_INIT; /* a process that comes gets the error again */
    struct process_host *host = forecast->forecasts->host;
    struct tree *tree;

    if (!host_protects_waiting(host, &forecast->wish))
        return NULL;
    tree = host_take(host, &forecast->wish, &ignored);
    if (tree && tree_start_ahead(tree, forecast, &ignored) < 0)
        tree_kill(tree);
    return tree;
}

/* NULL: a process that comes gets a tree of its own. */
static struct tree *host_make_worker(const struct forecast *forecast)
{
    struct waiting *zygote = forecast_zygote(forecast);
    struct error ignored = ERROR_INIT;

    return zygote ? nursery_make_worker(host_tree_of(zygote), &ignored) : NULL;
}

static struct waiting *host_make_python(struct expectation *expectation)
{
    struct forecast *forecast = CONTAINER_OF(expectation, struct forecast, pythons);
    struct tree *tree;

    if (forecast_zygote(forecast)) {
        tree = host_make_worker(forecast);
        if (tree)
            tree->forecast = forecast_hold(forecast);
        return host_measured(host_waiting(tree), WORKER_BYTES);
    }
    return host_measured(host_waiting(host_begin_ahead(forecast)), ALONE_BYTES);
}

static void host_end_python(struct waiting *waiting)
{
    tree_kill(host_tree_of(waiting));
}

static void host_on_zygote(struct tree *tree, enum nursery_news news)
{
    struct forecasts *forecasts = host_forecasts(tree->host);

    if (list_is_empty(&tree->waiting.link))
        return; /* no process waits for it */
    if (news == NURSERY_WAITS) {
        forecasts_note_zygote(forecasts, &tree->waiting, nursery_measure(tree));
        return;
    }
    waiting_withdraw(&tree->waiting);
    if (news == NURSERY_FAILED)
        expectation_close(&tree->forecast->zygote, clock_seconds());
    forecasts_look_again(forecasts);
}

/* A zygote writes in /proc, and has a capability, to map the ids of its workers. The packages that
 * it loads must not have both as root of the machine: they could change settings of the kernel. */
static bool host_may_have_zygote(const struct tree_plan *plan)
{
    struct stat status;

    return geteuid() != 0 || plan->layers & LAYER_UID ||
           (stat("/proc/sys", &status) == 0 && status.st_uid != 0);
}

/* A zygote needs every layer that its workers have from it. */
static struct tree *host_start_zygote(struct process_host *host, struct forecast *forecast)
{
    const unsigned needed = LAYER_PID_NAMESPACE | LAYER_ROOT | LAYER_CALLS;
    const struct tree_plan plan = machine_plan(host_machine(host), &forecast->wish);
    struct error ignored = ERROR_INIT;

    if (host_core(host) < 0 || forecast->is_alone ||
        host_refuses(host, &forecast->wish, &ignored) || (plan.layers & needed) != needed ||
        plan.layers & LAYER_OFFLINE || !host_may_have_zygote(&plan))
        return NULL;
    return nursery_new(host, &plan, forecast, host_on_zygote, &ignored);
}

static struct waiting *host_make_zygote(struct expectation *expectation)
{
    struct forecast *forecast = CONTAINER_OF(expectation, struct forecast, zygote);
    struct waiting *zygote = host_waiting(host_start_zygote(forecast->forecasts->host, forecast));

    if (!zygote)
        expectation_close(expectation, clock_seconds());
    return zygote;
}

static void host_end_zygote(struct waiting *waiting)
{
    nursery_retire(host_tree_of(waiting));
}

static bool host_load(struct waiting *zygote, struct preloads *preloads)
{
    return nursery_load(host_tree_of(zygote), preloads);
}

/* Memory is what bounds both: the modules that a zygote imports are the most of its own. */
const struct forecast_ways host_ahead = {
    .zygotes = {.most = MOST_ZYGOTES,
                .memory = UINT64_C(1) << 30,
                .make = host_make_zygote,
                .end = host_end_zygote},
    .pythons = {.most = MOST_PYTHONS,
                .memory = UINT64_C(128) << 20,
                .make = host_make_python,
                .end = host_end_python},
    .load = host_load,
};

struct tree *host_take_ahead(struct process_host *host, struct forecast *forecast, bool has_input)
{
    struct error ignored = ERROR_INIT; /* the process gets the error again */
    struct waiting *python;
    struct tree *tree;

    if (host_refuses(host, &forecast->wish, &ignored))
        return NULL;
    python = forecast_take(forecast);
    tree = python ? host_tree_of(python) : host_make_worker(forecast);
    if (!tree || (!machine_wish_lacks(&forecast->wish, tree->layers) && (tree->role || !has_input)))
        return tree;
    tree_kill(tree);
    return NULL;
}

struct process_ahead process_host_ahead(struct process_host *host)
{
    return forecasts_describe(host_forecasts(host));
}
