/* How a host starts programs ahead of their code: as copies of a zygote or, if there can be no
 * zygote, each in a tree of its own. */
#include "base/memory.h"
#include "environments/process/host_private.h"
#include "environments/process/nursery.h"
#include "environments/process/tree_private.h"

#include <sys/stat.h>
#include <unistd.h>

static struct tree *host_begin_ahead(struct process_host *host, struct forecast *forecast)
{
    struct error ignored = ERROR_INIT; /* a process that comes gets the error again */
    struct tree *tree = host_take(host, &forecast->wish, &ignored);

    if (tree && tree_start_ahead(tree, forecast, &ignored) < 0) {
        tree_kill(tree);
        return NULL;
    }
    return tree;
}

static void host_on_zygote(struct tree *tree, enum nursery_news news)
{
    struct forecasts *forecasts = host_forecasts(tree->host);
    struct forecast *forecast = tree->forecast;

    if (!forecast || list_is_empty(&forecast->link))
        return; /* no process waits for it */
    if (news == NURSERY_OUT_OF_DATE) {
        forecast_withdraw(forecast);
        forecasts_look_again(forecasts);
        return;
    }
    if (news == NURSERY_FAILED)
        tree->forecast = NULL;
    forecasts_note_zygote(forecasts, forecast, news == NURSERY_WAITS);
}

/* A zygote writes in /proc, and has a capability, to map the ids of its workers. The packages that
 * it loads must not have both as root of the machine: they could change settings of the kernel. */
static bool host_may_nurse(const struct tree_plan *plan)
{
    struct stat status;

    return geteuid() != 0 || plan->layers & LAYER_UID ||
           (stat("/proc/sys", &status) == 0 && status.st_uid != 0);
}

/* A zygote needs every layer that its workers have from it. */
static struct tree *host_nurse(struct process_host *host, struct forecast *forecast)
{
    const unsigned needed = LAYER_PID_NAMESPACE | LAYER_ROOT | LAYER_CALLS;
    const struct tree_plan plan = machine_plan(host_machine(host), &forecast->wish);
    struct error ignored = ERROR_INIT;

    if (host_core(host) < 0 || forecast->is_alone ||
        host_refuses(host, &forecast->wish, &ignored) || (plan.layers & needed) != needed ||
        plan.layers & LAYER_OFFLINE || !host_may_nurse(&plan))
        return NULL;
    return nursery_new(host, &plan, forecast, host_on_zygote, &ignored);
}

static struct tree *host_breed(struct tree *nursery, struct forecast *forecast)
{
    struct error ignored = ERROR_INIT; /* a process that comes gets a tree of its own */
    struct tree *tree = nursery_breed(nursery, &ignored);

    if (tree)
        tree->forecast = forecast;
    return tree;
}

static void host_retire(struct tree *tree)
{
    forecast_withdraw(tree->forecast);
    nursery_retire(tree);
}

const struct forecast_ways host_ahead = {
    .begin = host_begin_ahead,
    .nurse = host_nurse,
    .load = nursery_load,
    .measure = nursery_measure,
    .breed = host_breed,
    .end = tree_kill,
    .retire = host_retire,
};

struct tree *host_take_ahead(struct process_host *host, const struct forecast *forecast,
                             bool has_input)
{
    struct error ignored = ERROR_INIT; /* the process gets the error again */
    struct tree *tree;

    if (host_refuses(host, &forecast->wish, &ignored))
        return NULL;
    tree = forecasts_take(host_forecasts(host), forecast);
    if (!tree || (!machine_wish_lacks(&forecast->wish, tree->layers) && (tree->role || !has_input)))
        return tree;
    tree_kill(tree);
    return NULL;
}

struct process_ahead process_host_ahead(struct process_host *host)
{
    return forecasts_describe(host_forecasts(host));
}
