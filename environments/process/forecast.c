#include "environments/process/forecast.h"

#include "base/clock.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define FORECAST_DELAY_SECONDS  0.002 /* behind the answer that is being written meanwhile */
#define FORECAST_KEEP_SECONDS   300.0
#define FORECAST_EXPIRE_SECONDS 30.0

enum { FORECASTS_STARTED = 8 }; /* at a time; about 10 MB each */

/* One that belongs to nobody yet is not expected when its process ends. */
static void forecast_forget(struct recurrent *recurrent)
{
    struct forecast *forecast = CONTAINER_OF(recurrent, struct forecast, recurrent);

    if (list_is_empty(&forecast->link))
        return;
    if (forecast->tree)
        forecast->forecasts->end(forecast->tree);
    else
        forecast_free(forecast);
}

struct forecast *forecast_new(const struct process_command *command, const struct buffer *job,
                              const struct tree_wish *wish)
{
    struct forecast *forecast = NEW(struct forecast);
    struct error ignored = ERROR_INIT; /* the limit is that of JOB */

    list_init(&forecast->link);
    forecast->recurrent.forget = forecast_forget;
    recurrence_keep(command->recurrence, &forecast->recurrent);
    buffer_init(&forecast->job, CONTROL_LIMIT_BYTES);
    (void)buffer_append(&forecast->job, buffer_bytes(job), buffer_length(job), &ignored);
    forecast->limits = command->limits;
    forecast->wish = *wish;
    forecast->mark = memory_copy_string(command->mark);
    return forecast;
}

void forecast_withdraw(struct forecast *forecast)
{
    if (forecast)
        list_remove(&forecast->link);
}

void forecast_free(struct forecast *forecast)
{
    if (!forecast)
        return;
    list_remove(&forecast->link);
    recurrent_withdraw(&forecast->recurrent);
    buffer_deinit(&forecast->job);
    free(forecast->mark);
    free(forecast);
}

static bool forecast_has_job(const struct forecast *forecast, const struct buffer *job)
{
    return buffer_length(&forecast->job) == buffer_length(job) &&
           memcmp(buffer_bytes(&forecast->job), buffer_bytes(job), buffer_length(job)) == 0;
}

static bool forecast_is_equal(const struct forecast *a, const struct forecast *b)
{
    return strcmp(a->mark, b->mark) == 0 && a->limits.memory == b->limits.memory &&
           a->limits.processes == b->limits.processes &&
           a->limits.file_size == b->limits.file_size && a->wish.sandbox == b->wish.sandbox &&
           a->wish.all == b->wish.all && a->wish.needed == b->wish.needed &&
           forecast_has_job(a, &b->job);
}

static struct forecast *forecasts_find(struct list *list, const struct forecast *forecast)
{
    LIST_FOR_EACH (list, link) {
        struct forecast *other = CONTAINER_OF(link, struct forecast, link);

        if (forecast_is_equal(other, forecast))
            return other;
    }
    return NULL;
}

static void forecasts_after(struct forecasts *forecasts, ev_timer *timer, double seconds)
{
    if (ev_is_active(timer))
        return;
    ev_timer_set(timer, seconds, 0.);
    ev_timer_start(forecasts->loop, timer);
}

/* The oldest give way. */
static void forecasts_make_room(struct forecasts *forecasts)
{
    size_t count = 0;

    LIST_FOR_EACH (&forecasts->started, link) {
        count++;
    }
    for (; count >= FORECASTS_STARTED; count--)
        forecasts->end(CONTAINER_OF(forecasts->started.next, struct forecast, link)->tree);
}

static void forecast_start(struct forecasts *forecasts, struct forecast *forecast)
{
    forecasts_make_room(forecasts);
    forecast->since = clock_seconds();
    list_append(&forecasts->started, &forecast->link); /* until its tree withdraws it */
    forecast->tree = forecasts->begin(forecasts, forecast);
    if (!forecast->tree) {
        forecast_free(forecast);
        return;
    }
    forecasts_after(forecasts, &forecasts->expire, FORECAST_EXPIRE_SECONDS);
}

static void forecasts_on_start(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct forecasts *forecasts = CONTAINER_OF(timer, struct forecasts, start);

    (void)loop;
    (void)events;
    while (!list_is_empty(&forecasts->expected)) {
        struct forecast *forecast = CONTAINER_OF(forecasts->expected.next, struct forecast, link);

        list_remove(&forecast->link);
        forecast_start(forecasts, forecast);
    }
}

static void forecasts_on_expire(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct forecasts *forecasts = CONTAINER_OF(timer, struct forecasts, expire);
    double now = clock_seconds();

    (void)loop;
    (void)events;
    while (!list_is_empty(&forecasts->started)) {
        const struct forecast *oldest =
            CONTAINER_OF(forecasts->started.next, struct forecast, link);

        if (now - oldest->since < FORECAST_KEEP_SECONDS) {
            forecasts_after(forecasts, &forecasts->expire, FORECAST_EXPIRE_SECONDS);
            return;
        }
        forecasts->end(oldest->tree);
    }
}

void forecasts_init(struct forecasts *forecasts)
{
    list_init(&forecasts->expected);
    list_init(&forecasts->started);
    ev_init(&forecasts->start, forecasts_on_start);
    ev_init(&forecasts->expire, forecasts_on_expire);
}

void forecasts_deinit(struct forecasts *forecasts)
{
    ev_timer_stop(forecasts->loop, &forecasts->start);
    ev_timer_stop(forecasts->loop, &forecasts->expire);
    LIST_FOR_EACH_SAFE (&forecasts->expected, link) {
        forecast_free(CONTAINER_OF(link, struct forecast, link));
    }
}

void forecasts_expect(struct forecasts *forecasts, struct forecast *forecast)
{
    if (list_is_empty(&forecast->recurrent.link) ||
        forecasts_find(&forecasts->expected, forecast) ||
        forecasts_find(&forecasts->started, forecast)) {
        forecast_free(forecast);
        return;
    }
    forecast->forecasts = forecasts;
    list_append(&forecasts->expected, &forecast->link);
    forecasts_after(forecasts, &forecasts->start, FORECAST_DELAY_SECONDS);
}

struct tree *forecasts_take(struct forecasts *forecasts, const struct forecast *forecast)
{
    struct forecast *expected = forecasts_find(&forecasts->expected, forecast);
    struct forecast *started = forecasts_find(&forecasts->started, forecast);

    forecast_free(expected); /* too late for it */
    if (!started)
        return NULL;
    list_remove(&started->link);
    return started->tree;
}
