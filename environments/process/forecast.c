#include "environments/process/forecast.h"

#include "base/clock.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define FORECAST_DELAY_SECONDS  0.002 /* behind the answer that is being written meanwhile */
#define FORECAST_KEEP_SECONDS   300.0
#define FORECAST_EXPIRE_SECONDS 30.0
#define FORECAST_RETRY_SECONDS  60.0 /* until a zygote that could not be had is tried again */

/* Bytes that all zygotes together have for themselves, mainly for imported modules. */
#define FORECASTS_MEMORY (UINT64_C(1) << 30)

enum {
    FORECASTS_STARTED = 8, /* at a time, and as many zygotes; about 10 MB each */
    FORECAST_COPIES = 4,   /* that wait for one command, at most; about 1 MB each */
};

/* FORECAST is in a list from which its tree withdraws it. */
static void forecast_end(struct forecast *forecast)
{
    const struct forecast_ways *ways = forecast->forecasts->ways;

    if (!forecast->tree)
        forecast_free(forecast);
    else if (forecast->is_zygote)
        ways->retire(forecast->tree);
    else
        ways->end(forecast->tree);
}

/* A forecast in no list stays: it is dropped when its process ends (forecasts_expect). */
static void forecast_forget(struct recurrent *recurrent)
{
    struct forecast *forecast = CONTAINER_OF(recurrent, struct forecast, recurrent);

    if (list_is_empty(&forecast->link))
        return;
    forecast_end(forecast);
}

static struct forecast *forecast_make(const struct buffer *job, const char *mark)
{
    struct forecast *forecast = NEW(struct forecast);
    struct error ignored = ERROR_INIT; /* JOB has the same limit */

    list_init(&forecast->link);
    forecast->recurrent.forget = forecast_forget;
    buffer_init(&forecast->job, CONTROL_LIMIT_BYTES);
    (void)buffer_append(&forecast->job, buffer_bytes(job), buffer_length(job), &ignored);
    forecast->mark = memory_copy_string(mark);
    return forecast;
}

struct forecast *forecast_new(const struct process_command *command, const struct buffer *job,
                              const struct tree_wish *wish)
{
    struct forecast *forecast = forecast_make(job, command->mark);

    recurrence_keep(command->recurrence, &forecast->recurrent);
    forecast->limits = command->limits;
    forecast->wish = *wish;
    forecast->is_alone = command->is_alone;
    forecast->preloads = preloads_hold(command->preloads);
    return forecast;
}

static struct forecast *forecast_copy(struct forecast *forecast)
{
    struct forecast *copy = forecast_make(&forecast->job, forecast->mark);

    recurrence_keep_with(&forecast->recurrent, &copy->recurrent);
    copy->forecasts = forecast->forecasts;
    copy->limits = forecast->limits;
    copy->wish = forecast->wish;
    copy->is_alone = forecast->is_alone;
    return copy;
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
    preloads_drop(forecast->preloads);
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
    return strcmp(a->mark, b->mark) == 0 && a->is_alone == b->is_alone &&
           process_limits_are_equal(&a->limits, &b->limits) &&
           machine_wishes_are_equal(&a->wish, &b->wish) && forecast_has_job(a, &b->job);
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

static int forecasts_count(const struct list *list, const struct forecast *forecast)
{
    int count = 0;

    LIST_FOR_EACH (list, link) {
        count += forecast_is_equal(CONTAINER_OF(link, struct forecast, link), forecast);
    }
    return count;
}

static void forecasts_after(struct forecasts *forecasts, ev_timer *timer, double seconds)
{
    if (ev_is_active(timer))
        return;
    ev_timer_set(timer, seconds, 0.);
    ev_timer_start(forecasts->loop, timer);
}

/* Ends the oldest forecasts in LIST, so that there is room for one. */
static void forecasts_make_room(const struct list *list)
{
    size_t count = 0;

    LIST_FOR_EACH (list, link) {
        count++;
    }
    for (; count >= FORECASTS_STARTED; count--)
        forecast_end(CONTAINER_OF(list->next, struct forecast, link));
}

/* FORECAST is used now, and becomes the latest in LIST. */
static void forecasts_use(struct forecasts *forecasts, struct list *list, struct forecast *forecast)
{
    list_remove(&forecast->link);
    list_append(list, &forecast->link);
    forecast->since = clock_seconds();
    forecasts_after(forecasts, &forecasts->expire, FORECAST_EXPIRE_SECONDS);
}

/* There was no zygote for NURSERY; by now there may be one. */
static bool forecast_is_to_be_retried(const struct forecast *nursery)
{
    return nursery->has_failed && clock_seconds() - nursery->since >= FORECAST_RETRY_SECONDS;
}

/* The forecast for the zygote of FORECAST. If there is no zygote, it is started. */
static struct forecast *forecasts_nurse(struct forecasts *forecasts, struct forecast *forecast)
{
    struct forecast *nursery = forecasts_find(&forecasts->nurseries, forecast);

    if (nursery && !forecast_is_to_be_retried(nursery))
        return nursery;
    forecast_free(nursery);
    forecasts_make_room(&forecasts->nurseries);
    nursery = forecast_copy(forecast);
    nursery->is_zygote = true;
    nursery->copies = 1;
    forecasts_use(forecasts, &forecasts->nurseries, nursery);
    nursery->tree = forecasts->ways->nurse(forecasts->host, nursery);
    nursery->has_failed = !nursery->tree;
    return nursery;
}

/* Starts FORECAST as a copy of the zygote of NURSERY or, if there can be none, alone. */
static void forecast_start(struct forecasts *forecasts, struct forecast *forecast,
                           struct forecast *nursery)
{
    forecasts_make_room(&forecasts->started);
    forecasts_use(forecasts, &forecasts->started, forecast); /* until its tree withdraws it */
    forecast->is_ready = false;
    forecast->tree = nursery->has_failed ? forecasts->ways->begin(forecasts->host, forecast)
                                         : forecasts->ways->breed(nursery->tree, forecast);
    if (!forecast->tree)
        forecast_free(forecast);
}

/* True when the zygote of NURSERY waits for orders, or there is none. */
static bool forecasts_is_settled(struct forecasts *forecasts, struct forecast *nursery,
                                 struct preloads *preloads)
{
    if (nursery->is_ready)
        nursery->is_ready = forecasts->ways->load(nursery->tree, preloads);
    return nursery->has_failed || nursery->is_ready;
}

/* Starts as many copies as are wanted. */
static void forecasts_start(struct forecasts *forecasts, struct forecast *forecast,
                            struct forecast *nursery)
{
    int count = forecasts_count(&forecasts->started, forecast) + 1;

    for (; nursery->is_ready && count < nursery->copies; count++)
        forecast_start(forecasts, forecast_copy(forecast), nursery);
    forecast_start(forecasts, forecast, nursery);
}

/* A forecast that has to wait for its zygote stays in the list. */
static void forecasts_on_start(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct forecasts *forecasts = CONTAINER_OF(timer, struct forecasts, start);

    (void)loop;
    (void)events;
    LIST_FOR_EACH_SAFE (&forecasts->expected, link) {
        struct forecast *forecast = CONTAINER_OF(link, struct forecast, link);
        struct forecast *nursery = forecasts_nurse(forecasts, forecast);

        if (forecasts_is_settled(forecasts, nursery, forecast->preloads))
            forecasts_start(forecasts, forecast, nursery);
    }
}

/* Ends the surplus of copies for the command of NURSERY, the oldest first. */
static void forecasts_end_surplus(const struct forecasts *forecasts, const struct forecast *nursery)
{
    int surplus = forecasts_count(&forecasts->started, nursery) - nursery->copies;

    LIST_FOR_EACH_SAFE (&forecasts->started, link) {
        struct forecast *started = CONTAINER_OF(link, struct forecast, link);

        if (surplus > 0 && forecast_is_equal(started, nursery)) {
            forecast_end(started);
            surplus--;
        }
    }
}

/* If no process has come for a while, one copy is enough. */
static void forecasts_want_less(const struct forecasts *forecasts)
{
    const double before = clock_seconds() - FORECAST_EXPIRE_SECONDS;

    LIST_FOR_EACH (&forecasts->nurseries, link) {
        struct forecast *nursery = CONTAINER_OF(link, struct forecast, link);

        if (nursery->since < before) {
            nursery->copies = 1;
            forecasts_end_surplus(forecasts, nursery);
        }
    }
}

/* Ends the forecasts in LIST that no process has come for. */
static void forecasts_expire(struct forecasts *forecasts, const struct list *list)
{
    const double now = clock_seconds();

    while (!list_is_empty(list)) {
        struct forecast *oldest = CONTAINER_OF(list->next, struct forecast, link);

        if (now - oldest->since < FORECAST_KEEP_SECONDS) {
            forecasts_after(forecasts, &forecasts->expire, FORECAST_EXPIRE_SECONDS);
            return;
        }
        forecast_end(oldest);
    }
}

static void forecasts_on_expire(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct forecasts *forecasts = CONTAINER_OF(timer, struct forecasts, expire);

    (void)loop;
    (void)events;
    forecasts_want_less(forecasts);
    forecasts_expire(forecasts, &forecasts->started);
    forecasts_expire(forecasts, &forecasts->nurseries);
}

void forecasts_init(struct forecasts *forecasts)
{
    list_init(&forecasts->expected);
    list_init(&forecasts->started);
    list_init(&forecasts->nurseries);
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
    LIST_FOR_EACH_SAFE (&forecasts->nurseries, link) {
        forecast_free(CONTAINER_OF(link, struct forecast, link)); /* without a tree */
    }
}

struct process_ahead forecasts_describe(const struct forecasts *forecasts)
{
    struct process_ahead ahead = {0};

    LIST_FOR_EACH (&forecasts->started, link)
        ahead.waiting++;
    LIST_FOR_EACH (&forecasts->nurseries, link) {
        const struct forecast *nursery = CONTAINER_OF(link, struct forecast, link);

        ahead.zygotes += nursery->tree != NULL;
        ahead.zygote_memory += nursery->memory;
    }
    return ahead;
}

/* Zygotes that have not been used for longest give way to LATEST. */
static void forecasts_bound_memory(const struct forecasts *forecasts, const struct forecast *latest)
{
    uint64_t memory = forecasts_describe(forecasts).zygote_memory;

    LIST_FOR_EACH_SAFE (&forecasts->nurseries, link) {
        struct forecast *nursery = CONTAINER_OF(link, struct forecast, link);

        if (memory <= FORECASTS_MEMORY)
            return;
        if (nursery == latest)
            continue;
        memory -= nursery->memory;
        forecast_end(nursery);
    }
}

void forecasts_note_zygote(struct forecasts *forecasts, struct forecast *forecast, bool is_ready)
{
    forecast->is_ready = is_ready;
    forecast->has_failed = !is_ready;
    if (!is_ready)
        forecast->tree = NULL;
    forecast->memory = is_ready ? forecasts->ways->measure(forecast->tree) : 0;
    forecasts_bound_memory(forecasts, forecast);
    forecasts_after(forecasts, &forecasts->start, 0.);
}

void forecasts_look_again(struct forecasts *forecasts)
{
    forecasts_after(forecasts, &forecasts->start, 0.);
}

/* True when enough programs have been started for the command of FORECAST. */
static bool forecasts_are_enough(struct forecasts *forecasts, const struct forecast *forecast)
{
    const struct forecast *nursery = forecasts_find(&forecasts->nurseries, forecast);

    return forecasts_count(&forecasts->started, forecast) >= (nursery ? nursery->copies : 1);
}

void forecasts_expect(struct forecasts *forecasts, struct forecast *forecast)
{
    if (list_is_empty(&forecast->recurrent.link) ||
        forecasts_find(&forecasts->expected, forecast) ||
        forecasts_are_enough(forecasts, forecast)) {
        forecast_free(forecast);
        return;
    }
    forecast->forecasts = forecasts;
    list_append(&forecasts->expected, &forecast->link);
    forecasts_after(forecasts, &forecasts->start, FORECAST_DELAY_SECONDS);
}

/* The zygote of NURSERY is used. If a process comes before the next copy is ready, more copies are
 * wanted. */
static void forecasts_use_zygote(struct forecasts *forecasts, struct forecast *nursery,
                                 const struct forecast *started)
{
    forecasts_use(forecasts, &forecasts->nurseries, nursery);
    if (!(started && started->is_ready) && nursery->copies < FORECAST_COPIES)
        nursery->copies++;
}

struct tree *forecasts_take(struct forecasts *forecasts, const struct forecast *forecast)
{
    struct forecast *expected = forecasts_find(&forecasts->expected, forecast);
    struct forecast *started = forecasts_find(&forecasts->started, forecast);
    struct forecast *nursery = forecasts_find(&forecasts->nurseries, forecast);

    forecast_free(expected); /* it is too late to start it */
    if (nursery && !nursery->is_ready)
        nursery = NULL;
    if (nursery)
        forecasts_use_zygote(forecasts, nursery, started);
    if (!started)
        return nursery ? forecasts->ways->breed(nursery->tree, NULL) : NULL;
    list_remove(&started->link);
    return started->tree;
}
