#include "environments/docker/run.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "base/memory.h"
#include "environments/docker/ahead_container.h"
#include "environments/docker/ahead_pool.h"
#include "environments/docker/script_file.h"
#include "environments/docker/site.h"
#include "environments/docker/tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

struct docker_run {
    struct execution execution;
    struct docker_tree_owner owner;
    struct docker_order *order;    /* owned */
    struct ahead_pool *pool;       /* borrowed; NULL: nothing is started ahead */
    struct ahead_container *ahead; /* owned: what was taken and has the tree's script; or NULL */
    struct docker_tree *tree;      /* owned */
    double started_at;             /* monotonic seconds */
};

static void docker_run_free(struct docker_run *run)
{
    docker_tree_free(run->tree);
    ahead_container_free(run->ahead);
    docker_order_free(run->order);
    free(run);
}

/* The one way out. If it has ended well, the next call is expected to be like it. */
static void docker_run_finish(struct docker_run *run)
{
    struct execution_listener *listener = run->execution.listener;
    struct process_end end = docker_tree_conclude(run->tree, run->started_at, run->order->python);

    end.ahead_seconds = run->tree->ahead_seconds;
    end.vanished = docker_tree_lacked_tools(run->tree);
    if (run->tree->output.has_words && run->ahead)
        ahead_pool_open(run->pool);
    if (run->tree->output.has_words && run->pool)
        ahead_pool_expect(run->pool, STEAL_PTR(run->order));
    docker_tree_leave(STEAL_PTR(run->tree));
    docker_run_free(run);
    listener->ended(listener, &end);
}

static void docker_run_on_began(struct docker_tree_owner *owner)
{
    struct execution_listener *listener =
        CONTAINER_OF(owner, struct docker_run, owner)->execution.listener;

    listener->began(listener);
}

/* The engine may know the reason of a kill. The container that stays is waited for. */
static bool docker_run_has_enough(const struct docker_tree_owner *owner,
                                  const struct last_words *words)
{
    const struct docker_run *run = CONTAINER_OF(owner, const struct docker_run, owner);

    return !run->order->stays && words->failure == 0 && words->flags == 0 &&
           WIFEXITED(words->status);
}

static int docker_run_start_container(struct docker_run *run, struct error *err)
{
    const struct docker_order_container own = {.code_file = run->order->request.code_file};

    docker_tree_give_tools(run->tree, run->order->request.tools);
    return docker_tree_start(run->tree, run->order, own, err);
}

/* Moves the file of the container ahead, which has the code already, to the place of the run's
 * file. */
static int docker_run_take_code(struct docker_run *run, struct error *err)
{
    if (rename(run->ahead->code_file, run->order->request.code_file) < 0)
        return error_set_errno(err, errno, "cannot write the script");
    return 0;
}

/* Its container has not begun: the run gets another one. */
static void docker_run_start_anew(struct docker_run *run)
{
    struct error_rest rest;
    struct error err = ERROR_INIT_LONG(&rest);
    int has_code = docker_run_take_code(run, &err);

    log_debug("container ahead %s did not begin", run->tree->name);
    ahead_pool_close(run->pool);
    docker_tree_free(run->tree);
    ahead_container_free(STEAL_PTR(run->ahead));
    run->tree = docker_tree_new(run->order->site, &run->owner, run->execution.listener);
    if (has_code == 0 && docker_run_start_container(run, &err) == 0)
        return;
    snprintf(run->tree->end.failure, sizeof run->tree->end.failure, "%s", err.message);
    docker_run_finish(run);
}

static void docker_run_on_ended(struct docker_tree_owner *owner)
{
    struct docker_run *run = CONTAINER_OF(owner, struct docker_run, owner);
    const struct docker_tree *tree = run->tree;

    if (run->ahead && tree->fate == DOCKER_TREE_NEVER_BEGAN && !tree->killed) {
        docker_run_start_anew(run);
        return;
    }
    if (run->order->stays && tree->end.started) {
        log_info("container %s stays for a day, to be looked at", tree->name);
        run->order->site->stayed(run->order->site);
    }
    if (tree->end.status == DOCKER_NOT_FOUND)
        run->order->site->is_stale = true;
    docker_run_finish(run);
}

static void interrupt_run(struct execution *execution)
{
    docker_tree_interrupt(CONTAINER_OF(execution, struct docker_run, execution)->tree);
}

static void kill_run(struct execution *execution)
{
    docker_tree_kill(CONTAINER_OF(execution, struct docker_run, execution)->tree);
}

static struct docker_run *docker_run_new(struct docker_order *order,
                                         struct execution_listener *listener)
{
    struct docker_run *run = NEW(struct docker_run);

    run->execution = (struct execution){
        .listener = listener, .interrupt = interrupt_run, .kill = kill_run, .is_starting = true};
    run->owner = (struct docker_tree_owner){.began = docker_run_on_began,
                                            .has_enough = docker_run_has_enough,
                                            .ended = docker_run_on_ended};
    run->order = order;
    run->tree = docker_tree_new(order->site, &run->owner, listener);
    run->started_at = clock_seconds();
    return run;
}

/* Starts RUN, the run of REQUEST, in a container of its own. */
static struct execution *
docker_run_begin(struct docker_run *run, const struct execution_request *request, struct error *err)
{
    AUTO_CLOSE int file =
        docker_script_file_new(request->code_file, request->code, request->code_length,
                               docker_order_reader(run->order), err);

    if (file >= 0 && docker_run_start_container(run, err) == 0)
        return &run->execution;
    docker_run_free(run);
    return NULL;
}

struct execution *docker_run_start(struct docker_order *order,
                                   const struct execution_request *request,
                                   struct execution_listener *listener, struct error *err)
{
    return docker_run_begin(docker_run_new(order, listener), request, err);
}

/* Moves the tree of TAKEN, which is taken, into RUN. False: it cannot be used. */
static bool docker_run_take(struct docker_run *run, struct ahead_container *taken,
                            const struct execution_request *request)
{
    struct error ignored = ERROR_INIT;
    struct docker_tree *tree =
        ahead_container_take(taken, request->code, request->code_length, &ignored);

    if (!tree) {
        ahead_container_free(taken);
        return false;
    }
    docker_tree_free(run->tree);
    run->tree = tree;
    run->ahead = taken;
    docker_tree_give(run->tree, &run->owner, run->execution.listener);
    docker_tree_give_tools(run->tree, request->tools);
    docker_tree_ask(run->tree, &taken->go);
    return true;
}

struct execution *docker_run_start_ahead(struct ahead_pool *pool, struct docker_order *order,
                                         const struct execution_request *request,
                                         struct execution_listener *listener, struct error *err)
{
    struct docker_run *run = docker_run_new(order, listener);
    struct ahead_container *taken = ahead_pool_take(pool, order);

    run->pool = pool;
    if (taken && docker_run_take(run, taken, request))
        return &run->execution;
    return docker_run_begin(run, request, err);
}
