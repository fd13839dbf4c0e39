#include "environments/docker/docker.h"

#include "base/memory.h"
#include "environments/docker/ahead_pool.h"
#include "environments/docker/container_description.h"
#include "environments/docker/end.h"
#include "environments/docker/image.h"
#include "environments/docker/kept_pool.h"
#include "environments/docker/order.h"
#include "environments/docker/packages.h"
#include "environments/docker/python.h"
#include "environments/docker/reach.h"
#include "environments/docker/run.h"
#include "environments/docker/session.h"
#include "environments/docker/site.h"
#include "environments/docker/sweep.h"
#include "environments/docker/volume.h"
#include "environments/workplace/access_list.h"

#include <stdlib.h>
#include <unistd.h>

#define DOCKER_REST_SECONDS 0.05 /* a client that makes one call has left by then */

struct docker_environment {
    struct environment environment;
    struct docker_site site;
    struct docker_image image;
    struct docker_python python;
    struct docker_packages packages;
    struct kept_pool kept;
    struct ahead_pool ahead;
    struct docker_sweep sweep;
    ev_timer rest; /* before something waits for the next call */
    bool is_prepared;
};

static struct docker_environment *docker_of(struct environment *environment)
{
    return CONTAINER_OF(environment, struct docker_environment, environment);
}

static const struct docker_environment *const_docker_of(const struct environment *environment)
{
    return CONTAINER_OF(environment, const struct docker_environment, environment);
}

/* The preparation: each step begins the next one. */

static void docker_finish(struct docker_environment *docker, const struct error *err)
{
    const bool is_built = docker->site.definition.dockerfile;

    docker->is_prepared = err == NULL;
    if (!err)
        docker_sweep_spare(&docker->sweep, is_built ? docker->image.name : NULL,
                           docker->packages.tag);
    environment_end_preparation(&docker->environment, err);
}

static void docker_on_packages(struct docker_packages *packages, const struct error *err)
{
    docker_finish(CONTAINER_OF(packages, struct docker_environment, packages), err);
}

static void docker_install(struct docker_environment *docker)
{
    struct error err = ERROR_INIT;

    if (!docker_packages_are_wanted(&docker->site))
        docker_finish(docker, NULL);
    else if (docker_packages_start(&docker->packages, &docker->site, &docker->image.facts,
                                   docker->python.facts.program, &err) < 0)
        docker_finish(docker, &err);
}

static void docker_on_python(struct docker_python *python, const struct error *err)
{
    struct docker_environment *docker = CONTAINER_OF(python, struct docker_environment, python);

    if (err)
        docker_finish(docker, err);
    else
        docker_install(docker);
}

static void docker_on_image(struct docker_image *image, const struct error *err)
{
    struct docker_environment *docker = CONTAINER_OF(image, struct docker_environment, image);

    if (err)
        docker_finish(docker, err);
    else if (docker_python_start(&docker->python, &docker->site, &image->facts) == OUTCOME_READY)
        docker_install(docker);
}

static void docker_on_met(struct docker_site *site, const struct error *err)
{
    struct docker_environment *docker = CONTAINER_OF(site, struct docker_environment, site);
    struct error problem = ERROR_INIT;

    if (err) {
        docker_finish(docker, err);
        return;
    }
    docker_sweep_catch_up(&docker->sweep);
    if (docker_image_start(&docker->image, site, &problem) < 0)
        docker_finish(docker, &problem);
}

static void docker_on_stayed(struct docker_site *site)
{
    docker_sweep_again(&CONTAINER_OF(site, struct docker_environment, site)->sweep);
}

static bool docker_is_prepared(const struct environment *environment)
{
    const struct docker_environment *docker = const_docker_of(environment);

    return docker->is_prepared && !docker->site.is_stale;
}

static enum outcome docker_prepare(struct environment *environment, struct error *err)
{
    struct docker_environment *docker = docker_of(environment);

    docker->is_prepared = false;
    docker->site.is_stale = false;
    docker_sweep_spare(&docker->sweep, NULL, NULL);
    environment_step(environment, -1, "asking the engine");
    if (docker_site_meet(&docker->site) == OUTCOME_READY &&
        docker_image_start(&docker->image, &docker->site, err) < 0)
        return OUTCOME_FAILED;
    return OUTCOME_PENDING;
}

static void docker_cancel(struct environment *environment)
{
    struct docker_environment *docker = docker_of(environment);

    docker_site_cancel(&docker->site);
    docker_image_cancel(&docker->image);
    docker_python_cancel(&docker->python);
    docker_packages_cancel(&docker->packages);
}

/* Runs */

static bool docker_keeps(const struct docker_environment *docker)
{
    return docker->site.definition.keep_container_running;
}

static bool docker_starts_ahead(const struct docker_environment *docker)
{
    return docker->environment.settings.start != START_COLD;
}

static bool docker_has_own_user(const struct docker_environment *docker)
{
    return docker_site_has_own_user(&docker->site, docker->python.facts.uid);
}

static int docker_admit(const struct environment *environment, const char *directory,
                        struct error *err)
{
    const struct docker_environment *docker = const_docker_of(environment);

    if (!docker_has_own_user(docker))
        return 0;
    return access_list_open_directory(directory, docker->python.facts.uid, err);
}

static struct execution *docker_start(struct environment *environment,
                                      const struct execution_request *request,
                                      struct execution_listener *listener, struct error *err)
{
    struct docker_environment *docker = docker_of(environment);
    const struct docker_facts *image =
        docker_packages_are_wanted(&docker->site) ? &docker->packages.facts : &docker->image.facts;

    struct docker_order *order;

    if (docker_admit(environment, request->directory, err) < 0)
        return NULL;
    if (docker_keeps(docker))
        return kept_pool_start(&docker->kept, image, &docker->python.facts, request,
                               request->recurrence && docker_starts_ahead(docker), listener, err);
    order = docker_order_new(&docker->site, image, docker->python.facts.program, request);
    order->has_own_user = docker_has_own_user(docker);
    order->uid = docker->python.facts.uid;
    if (request->program)
        return docker_session_start(order, listener, err);
    if (request->recurrence && docker_starts_ahead(docker) && !order->stays)
        return docker_run_start_ahead(&docker->ahead, order, request, listener, err);
    return docker_run_start(order, request, listener, err);
}

static void docker_on_rest(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct docker_environment *docker = CONTAINER_OF(timer, struct docker_environment, rest);

    (void)events;
    ev_timer_stop(loop, timer);
    if (docker->environment.users > 0)
        return;
    kept_pool_rest(&docker->kept);
    ahead_pool_rest(&docker->ahead);
}

/* A little later: the answer of the last run goes out first, and the client may be gone then. */
static void docker_rest(struct environment *environment)
{
    ev_now_update(environment->loop);
    ev_timer_again(environment->loop, &docker_of(environment)->rest);
}

static enum script_delivery docker_delivery(const struct environment *environment)
{
    (void)environment;
    return SCRIPT_IN_FILE;
}

static bool can_overlap(const struct environment *environment)
{
    return !docker_keeps(const_docker_of(environment));
}

static const char *docker_describe_interpreter(const struct environment *environment)
{
    return const_docker_of(environment)->python.facts.program;
}

static const char *docker_python_version(const struct environment *environment)
{
    return const_docker_of(environment)->python.facts.version;
}

static struct process_receipt docker_expected_receipt(const struct environment *environment)
{
    return docker_receipt(const_docker_of(environment)->site.missing);
}

static void docker_begin(struct environment *environment)
{
    struct docker_environment *docker = docker_of(environment);

    docker_sweep_begin(&docker->sweep);
    kept_pool_begin(&docker->kept);
}

static void docker_stop(struct environment *environment)
{
    struct docker_environment *docker = docker_of(environment);

    ev_timer_stop(environment->loop, &docker->rest);
    docker_sweep_stop(&docker->sweep);
    kept_pool_stop(&docker->kept);
    ahead_pool_stop(&docker->ahead);
}

static bool docker_is_idle(const struct environment *environment)
{
    return engine_is_idle(const_docker_of(environment)->site.engine);
}

static void docker_free(struct environment *environment)
{
    struct docker_environment *docker = docker_of(environment);

    docker_stop(environment);
    docker_packages_deinit(&docker->packages);
    docker_python_deinit(&docker->python);
    docker_image_deinit(&docker->image);
    docker_site_deinit(&docker->site);
    environment_deinit(environment);
    free(docker);
}

static json_t *docker_describe_reach(const struct environment *environment)
{
    return docker_reach(&const_docker_of(environment)->site.definition);
}

static char **docker_writes(const struct environment *environment)
{
    const json_t *volumes = const_docker_of(environment)->site.definition.volumes;
    char **places = memory_new(json_object_size(volumes) + 1, sizeof *places);
    size_t count = 0;
    const char *path;
    json_t *volume;

    json_object_foreach ((json_t *)volumes, path, volume) {
        char *real = docker_volume_read(path, volume).is_writable ? realpath(path, NULL) : NULL;

        if (real)
            places[count++] = real;
    }
    return places;
}

static const char *docker_lacks_sockets(const struct environment *environment)
{
    return docker_site_lacks_sockets(&const_docker_of(environment)->site);
}

static const struct environment_ops docker_ops = {
    .kind = &docker_kind,
    .begin = docker_begin,
    .is_prepared = docker_is_prepared,
    .prepare = docker_prepare,
    .cancel = docker_cancel,
    .admit = docker_admit,
    .start = docker_start,
    .delivery = docker_delivery,
    .can_overlap = can_overlap,
    .describe_interpreter = docker_describe_interpreter,
    .python_version = docker_python_version,
    .expected_receipt = docker_expected_receipt,
    .writes = docker_writes,
    .reach = docker_describe_reach,
    .lacks_sockets = docker_lacks_sockets,
    .rest = docker_rest,
    .stop = docker_stop,
    .is_idle = docker_is_idle,
    .free = docker_free,
};

static struct environment *docker_environment_new(struct environment_recipe *recipe,
                                                  const char **ret_key, struct error *err)
{
    struct docker_environment *docker = NEW(struct docker_environment);

    environment_init(&docker->environment, &docker_ops, recipe);
    if (docker_site_init(&docker->site, &docker->environment, recipe, ret_key, err) < 0) {
        environment_deinit(&docker->environment);
        free(docker);
        return NULL;
    }
    docker->site.met = docker_on_met;
    docker->site.stayed = docker_on_stayed;
    kept_pool_init(&docker->kept, &docker->site);
    ahead_pool_init(&docker->ahead);
    ev_timer_init(&docker->rest, docker_on_rest, 0., DOCKER_REST_SECONDS);
    docker_sweep_init(&docker->sweep, &docker->site);
    docker->image.done = docker_on_image;
    docker->python.done = docker_on_python;
    docker->packages.done = docker_on_packages;
    return &docker->environment;
}

/* The engine of definitions in calls. */
static bool docker_is_possible(void)
{
    struct engine_address address = {0};
    struct error ignored = ERROR_INIT;
    bool ret;

    if (engine_address_default(&address, &ignored) < 0)
        return false;
    ret = engine_address_is_open(&address);
    engine_address_deinit(&address);
    return ret;
}

const struct environment_kind docker_kind = {
    .name = "docker",
    .isolation = ISOLATION_DOCKER,
    .create = docker_environment_new,
    .workspace = DOCKER_WORKSPACE,
    .is_restricted = true,
    .is_possible = docker_is_possible,
};
