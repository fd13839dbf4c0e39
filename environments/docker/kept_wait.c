#include "environments/docker/kept_wait.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/list.h"
#include "base/log.h"
#include "base/random.h"
#include "environments/docker/container_description.h"
#include "environments/docker/site.h"
#include "environments/engine/last_words.h"

#include <stdlib.h>

static void kept_wait_forget(struct kept_wait *wait)
{
    json_decref(wait->key);
    free(wait->nonce);
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

/* The engine prints only if it could not start the run. */
static void kept_wait_on_output(struct exec *exec, enum frame_stream stream, const char *data,
                                size_t length)
{
    (void)exec;
    (void)stream;
    (void)data;
    (void)length;
}

static void kept_wait_on_ended(struct exec *exec, const struct container_end *end)
{
    log_debug("a run that waited in a kept container has ended: %s", end->failure);
    kept_wait_forget(CONTAINER_OF(exec, struct kept_wait, exec));
}

void kept_wait_start(struct kept_wait *wait, const struct docker_site *site, const char *container,
                     json_t *key)
{
    AUTO_JSON json_t *definition = json_deep_copy(key);

    *wait = (struct kept_wait){
        .key = key, .nonce = random_digits(LAST_WORDS_NONCE), .begun = clock_seconds()};
    docker_exec_add_nonce(definition, wait->nonce);
    wait->exec = (struct exec){
        .output = kept_wait_on_output, .agreed = kept_wait_on_agreed, .ended = kept_wait_on_ended};
    exec_start(&wait->exec, site->engine,
               &(struct exec_plan){
                   .container = container,
                   .definition = definition,
                   .start_timeout = site->definition.container_startup_timeout,
               });
}

bool kept_wait_is_there(const struct kept_wait *wait)
{
    return wait->key != NULL;
}

bool kept_wait_take(struct kept_wait *wait, struct exec *to)
{
    const bool agreed = wait->agreed;

    exec_move(&wait->exec, to);
    kept_wait_forget(wait);
    return agreed;
}

void kept_wait_stop(struct kept_wait *wait)
{
    exec_cancel(&wait->exec);
    kept_wait_forget(wait);
}
