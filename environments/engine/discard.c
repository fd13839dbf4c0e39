#include "environments/engine/discard.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/engine/engine_request.h"

#include <stdlib.h>

#define DISCARD_RETRY_SECONDS 0.5

enum {
    STATUS_NOT_FOUND = 404,
};

struct discard {
    struct engine *engine; /* borrowed */
    struct engine_duty duty;
    char *path; /* owned */
    struct engine_request request;
    ev_timer retry;
    ev_timer bound;
};

static void discard_free(struct discard *discard)
{
    list_remove(&discard->duty.link);
    ev_timer_stop(engine_loop(discard->engine), &discard->retry);
    ev_timer_stop(engine_loop(discard->engine), &discard->bound);
    engine_request_cancel(&discard->request);
    free(discard->path);
    free(discard);
}

static void discard_give_up(struct engine_duty *duty)
{
    discard_free(CONTAINER_OF(duty, struct discard, duty));
}

static void discard_on_bound(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    discard_free(CONTAINER_OF(timer, struct discard, bound));
}

static void discard_on_done(struct engine_request *request, const struct engine_answer *answer,
                            const struct error *err)
{
    struct discard *discard = CONTAINER_OF(request, struct discard, request);

    if (!err || answer->status == STATUS_NOT_FOUND)
        discard_free(discard);
    else
        ev_timer_again(engine_loop(discard->engine), &discard->retry);
}

static void discard_ask(struct discard *discard)
{
    const struct engine_question question = {
        .method = "DELETE", .path = discard->path, .timeout = ENGINE_CLEAN_UP_SECONDS};

    engine_request_start(&discard->request, discard->engine, &question);
}

static void discard_on_retry(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)events;
    ev_timer_stop(loop, timer);
    discard_ask(CONTAINER_OF(timer, struct discard, retry));
}

void engine_discard(struct engine *engine, const char *path)
{
    struct discard *discard = NEW(struct discard);

    discard->engine = engine;
    discard->path = memory_copy_string(path);
    discard->duty.give_up = discard_give_up;
    discard->request.done = discard_on_done;
    ev_init(&discard->retry, discard_on_retry);
    discard->retry.repeat = DISCARD_RETRY_SECONDS;
    ev_now_update(engine_loop(engine));
    ev_timer_init(&discard->bound, discard_on_bound, ENGINE_CLEAN_UP_SECONDS, 0.);
    ev_timer_start(engine_loop(engine), &discard->bound);
    engine_add_duty(engine, &discard->duty);
    discard_ask(discard);
}

void engine_discard_container(struct engine *engine, const char *name)
{
    AUTO_FREE char *path = memory_format("/containers/%s?force=1&v=1", name);

    engine_discard(engine, path);
}
