#include "environments/docker/kept_size.h"

#include "base/clock.h"
#include "base/list.h"
#include "base/memory.h"
#include "environments/docker/site.h"

#include <jansson.h>
#include <stdlib.h>

#define KEPT_SIZE_SECONDS        1.  /* between an answer and the next question ... */
#define KEPT_SIZE_SHARE          10. /* ... and more, the longer the answer took */
#define KEPT_SIZE_ANSWER_SECONDS 60.

static void kept_size_on_answer(struct engine_request *request, const struct engine_answer *answer,
                                const struct error *err)
{
    struct kept_size *size = CONTAINER_OF(request, struct kept_size, request);
    json_int_t bytes = err ? 0 : json_integer_value(json_object_get(answer->json, "SizeRw"));

    if (bytes > 0 && (uint64_t)bytes > size->limit) {
        kept_size_end(size);
        size->exceeded(size);
        return;
    }
    if (size->finished_at > 0 && size->asked_at >= size->finished_at) {
        kept_size_end(size);
        return;
    }
    ev_timer_set(&size->timer,
                 KEPT_SIZE_SECONDS + KEPT_SIZE_SHARE * (clock_seconds() - size->asked_at), 0.);
    ev_timer_start(size->site->environment->loop, &size->timer);
}

static void kept_size_ask(struct kept_size *size)
{
    ev_timer_stop(size->site->environment->loop, &size->timer);
    engine_request_cancel(&size->request);
    size->request = (struct engine_request){.done = kept_size_on_answer};
    size->asked_at = clock_seconds();
    engine_request_start(&size->request, size->site->engine,
                         &(struct engine_question){.method = "GET",
                                                   .path = size->path,
                                                   .timeout = KEPT_SIZE_ANSWER_SECONDS});
}

static void kept_size_on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    kept_size_ask(CONTAINER_OF(timer, struct kept_size, timer));
}

void kept_size_watch(struct kept_size *size, const char *id)
{
    size->finished_at = 0;
    if (size->path)
        return;
    size->path = memory_format("/containers/%s/json?size=1", id);
    ev_timer_init(&size->timer, kept_size_on_timer, KEPT_SIZE_SECONDS, 0.);
    ev_timer_start(size->site->environment->loop, &size->timer);
}

void kept_size_finish(struct kept_size *size)
{
    size->finished_at = clock_seconds();
}

void kept_size_end(struct kept_size *size)
{
    if (!size->path)
        return;
    ev_timer_stop(size->site->environment->loop, &size->timer);
    engine_request_cancel(&size->request);
    free(size->path);
    size->path = NULL;
}
