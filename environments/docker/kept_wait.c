#include "environments/docker/kept_wait.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/list.h"
#include "base/log.h"
#include "environments/docker/container_description.h"
#include "environments/docker/site.h"

#include <stdlib.h>

static void kept_wait_forget(struct kept_wait *wait)
{
    json_decref(wait->key);
    *wait = (struct kept_wait){0};
}

double kept_wait_seconds(const struct kept_wait *wait)
{
    return wait->agreed ? wait->seconds : clock_seconds() - wait->begun;
}

static void kept_wait_on_agreed(struct exec *exec)
{
    struct kept_wait *wait = CONTAINER_OF(exec, struct kept_wait, exec);

    wait->seconds = kept_wait_seconds(wait);
    wait->agreed = true;
}

static void kept_wait_on_output(struct exec *exec, enum frame_stream stream, const char *data,
                                size_t length)
{
    docker_output_feed(&CONTAINER_OF(exec, struct kept_wait, exec)->output, stream, data, length);
}

static void kept_wait_on_ended(struct exec *exec, const struct container_end *end)
{
    log_debug("a run that waited in a kept container has ended: %s", end->failure);
    kept_wait_forget(CONTAINER_OF(exec, struct kept_wait, exec));
}

void kept_wait_start(struct kept_wait *wait, const struct docker_site *site, const char *container,
                     json_t *key)
{
    *wait = (struct kept_wait){.key = key, .begun = clock_seconds()};
    docker_output_init(&wait->output, NULL);
    wait->output.is_mute = true;
    wait->exec = (struct exec){
        .output = kept_wait_on_output, .agreed = kept_wait_on_agreed, .ended = kept_wait_on_ended};
    exec_start(&wait->exec, site->engine,
               &(struct exec_plan){
                   .container = container,
                   .definition = key,
                   .start_timeout = docker_site_startup_seconds(site),
               });
}

bool kept_wait_is_there(const struct kept_wait *wait)
{
    return wait->key != NULL;
}

bool kept_wait_take(struct kept_wait *wait, struct exec *to, struct docker_output *output)
{
    const bool agreed = wait->agreed;

    exec_move(&wait->exec, to);
    docker_output_take_wire(output, &wait->output);
    kept_wait_forget(wait);
    return agreed;
}

void kept_wait_stop(struct kept_wait *wait)
{
    exec_cancel(&wait->exec);
    kept_wait_forget(wait);
}

void kept_ask_send(struct kept_ask *ask, struct exec *exec)
{
    ask->is_asked = ask->is_for_it;
    if (ask->is_asked)
        docker_go_tell_exec(&ask->go, exec);
    else
        exec_dismiss(exec);
}

void kept_ask_drop(struct kept_ask *ask)
{
    docker_go_deinit(&ask->go);
    *ask = (struct kept_ask){0};
}
