#include "environments/docker/ahead_container.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/state.h"
#include "environments/docker/docker_go.h"
#include "environments/docker/order.h"
#include "environments/docker/script_file.h"
#include "environments/docker/site.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CODE_NAME_DIGITS = 16 };

static const struct state ahead_container_states[] = {
    [AHEAD_CONTAINER_STARTING] = {"starting", 1 << AHEAD_CONTAINER_WAITING |
                                                  1 << AHEAD_CONTAINER_TAKEN |
                                                  1 << AHEAD_CONTAINER_OVER},
    [AHEAD_CONTAINER_WAITING] = {"waiting", 1 << AHEAD_CONTAINER_TAKEN | 1 << AHEAD_CONTAINER_OVER},
    [AHEAD_CONTAINER_TAKEN] = {"taken", 0},
    [AHEAD_CONTAINER_OVER] = {"over", 0},
};

static void ahead_container_set_state(struct ahead_container *container,
                                      enum ahead_container_state state)
{
    if (container->state == AHEAD_CONTAINER_STARTING)
        container->seconds = clock_seconds() - container->waiting.since;
    state_change(ahead_container_states, container->state, state, "container ahead %s",
                 container->name);
    container->state = state;
}

static void ahead_container_on_started(struct container *started)
{
    struct ahead_container *container = CONTAINER_OF(started, struct ahead_container, container);

    if (container->state == AHEAD_CONTAINER_STARTING)
        ahead_container_set_state(container, AHEAD_CONTAINER_WAITING);
}

/* Output before there is a script, such as a warning of the image's Python, would be lost. */
static void ahead_container_on_printed(struct execution_listener *listener,
                                       enum process_stream stream, const char *data, size_t length)
{
    struct ahead_container *container = CONTAINER_OF(listener, struct ahead_container, listener);

    (void)stream;
    (void)data;
    (void)length;
    container->has_printed = true;
    container_kill(&container->container);
}

static void ahead_container_on_output(struct container *printing, enum frame_stream stream,
                                      const char *data, size_t length)
{
    docker_output_feed(&CONTAINER_OF(printing, struct ahead_container, container)->output, stream,
                       data, length);
}

static void ahead_container_on_direct_output(struct direct_streams *streams,
                                             enum frame_stream stream, const char *data,
                                             size_t length)
{
    docker_output_print(&CONTAINER_OF(streams, struct ahead_container, streams)->output, stream,
                        data, length);
}

static void ahead_container_on_said(struct direct_streams *streams, const char *data, size_t length)
{
    docker_output_feed(&CONTAINER_OF(streams, struct ahead_container, streams)->output,
                       FRAME_STDOUT, data, length);
}

static void ahead_container_on_ended(struct container *ended, const struct container_end *end)
{
    struct ahead_container *container = CONTAINER_OF(ended, struct ahead_container, container);

    log_debug("container ahead %s: it has ended: %s", container->name, end->failure);
    ahead_container_set_state(container, AHEAD_CONTAINER_OVER);
    container->over(container);
}

/* Makes an empty file for code, beside the code file of ORDER, where only the server writes. */
static int make_code_file(struct ahead_container *container, const struct docker_order *order,
                          struct error *err)
{
    const char *beside = order->request.code_file;
    AUTO_FREE char *digits = random_digits(CODE_NAME_DIGITS);
    const int folder = (int)(strrchr(beside, '/') - beside);

    container->code_file = memory_format("%.*s/%s", folder, beside, digits);
    container->code =
        docker_script_file_new(container->code_file, "", 0, docker_order_reader(order), err);
    return container->code < 0 ? -1 : 0;
}

static int ahead_container_start(struct ahead_container *container,
                                 const struct docker_order *order, struct error *err)
{
    const struct docker_order_container own = {
        .code_file = container->code_file,
        .streams = direct_streams_path(&container->streams),
        .idle_seconds = WAITING_SECONDS,
    };
    AUTO_JSON json_t *definition = docker_order_describe(order, &own, err);

    if (!definition)
        return -1;
    container_start(&container->container, order->site->engine,
                    &(struct container_plan){
                        .name = container->name,
                        .definition = definition,
                        .start_timeout = order->site->definition.container_startup_timeout,
                        .is_told = true,
                    });
    return 0;
}

struct ahead_container *ahead_container_new(const struct docker_order *order, json_t *key,
                                            struct error *err)
{
    struct ahead_container *container = NEW(struct ahead_container);

    waiting_init(&container->waiting);
    container->key = key;
    container->directory = memory_copy_string(order->request.directory);
    container->site = order->site;
    container->code = -1;
    container->name = docker_site_name(order->site);
    container->container.output = ahead_container_on_output;
    container->container.started = ahead_container_on_started;
    container->container.ended = ahead_container_on_ended;
    container->streams.output = ahead_container_on_direct_output;
    container->streams.said = ahead_container_on_said;
    container->listener.output = ahead_container_on_printed;
    docker_output_init(&container->output, &container->listener);
    direct_streams_init(&container->streams, engine_loop(order->site->engine));
    if (make_code_file(container, order, err) == 0) {
        docker_order_offer_streams(order, container->code_file, &container->streams);
        if (ahead_container_start(container, order, err) == 0)
            return container;
    }
    ahead_container_free(container);
    return NULL;
}

void ahead_container_free(struct ahead_container *container)
{
    if (!container)
        return;
    container_cancel(&container->container);
    direct_streams_end(&container->streams);
    waiting_withdraw(&container->waiting);
    if (container->code >= 0) {
        (void)unlink(container->code_file);
        close(container->code);
    }
    json_decref(container->key);
    free(container->directory);
    free(container->name);
    free(container->code_file);
    free(container);
}

int ahead_container_take(struct ahead_container *container, const char *code, size_t length,
                         const struct ahead_container_places *to, bool *ret_runs, struct error *err)
{
    if (docker_go_put(to->go, container->site, container->code, code, length, err) < 0)
        return -1;
    *ret_runs = container->state == AHEAD_CONTAINER_WAITING;
    ahead_container_set_state(container, AHEAD_CONTAINER_TAKEN);
    container_move(&container->container, to->container);
    direct_streams_move(&container->streams, to->streams);
    docker_output_take_wire(to->output, &container->output);
    return 0;
}
