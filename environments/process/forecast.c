#include "environments/process/forecast.h"

#include "base/clock.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define FORECAST_DELAY_SECONDS  0.002 /* behind the answer that is being written meanwhile */
#define FORECAST_EXPIRE_SECONDS 30.0

static void forecast_free(struct forecast *forecast)
{
    list_remove(&forecast->link);
    recurrent_withdraw(&forecast->recurrent);
    preloads_drop(forecast->preloads);
    buffer_deinit(&forecast->job);
    free(forecast->mark);
    free(forecast);
}

struct forecast *forecast_hold(struct forecast *forecast)
{
    forecast->holders++;
    return forecast;
}

void forecast_drop(struct forecast *forecast)
{
    if (forecast && --forecast->holders == 0)
        forecast_free(forecast);
}

/* FORECAST, which somebody holds, is not to be started any more. */
static void forecast_settle(struct forecast *forecast)
{
    if (!forecast->is_due)
        return;
    forecast->is_due = false;
    forecast_drop(forecast);
}

/* The trees that end drop their holds, so it is held meanwhile: by the hold that it has while it is
 * due, or by a new one. */
static void forecast_forget(struct recurrent *recurrent)
{
    struct forecast *forecast = CONTAINER_OF(recurrent, struct forecast, recurrent);

    if (!forecast->is_due)
        (void)forecast_hold(forecast);
    forecast->is_due = false;
    waiting_room_end(&forecast->forecasts->pythons, &forecast->pythons);
    waiting_room_end(&forecast->forecasts->zygotes, &forecast->zygote);
    forecast_drop(forecast);
}

static struct forecast *forecast_new(const struct process_command *command,
                                     const struct buffer *job, const struct tree_wish *wish)
{
    struct forecast *forecast = NEW(struct forecast);
    struct error ignored = ERROR_INIT; /* JOB has the same limit */

    list_init(&forecast->recurrent.link);
    forecast->recurrent.forget = forecast_forget;
    buffer_init(&forecast->job, CONTROL_LIMIT_BYTES);
    (void)buffer_append(&forecast->job, buffer_bytes(job), buffer_length(job), &ignored);
    forecast->mark = memory_copy_string(command->mark);
    forecast->limits = command->limits;
    forecast->wish = *wish;
    forecast->is_alone = command->is_alone;
    forecast->zygote.wanted = 1;
    forecast->pythons.wanted = 1;
    return forecast;
}

static bool forecast_has_job(const struct forecast *forecast, const struct buffer *job)
{
    return buffer_length(&forecast->job) == buffer_length(job) &&
           (buffer_length(job) == 0 ||
            memcmp(buffer_bytes(&forecast->job), buffer_bytes(job), buffer_length(job)) == 0);
}

static bool forecast_is_for(const struct forecast *forecast, const struct process_command *command,
                            const struct buffer *job, const struct tree_wish *wish)
{
    return strcmp(forecast->mark, command->mark) == 0 && forecast->is_alone == command->is_alone &&
           process_limits_are_equal(&forecast->limits, &command->limits) &&
           machine_wishes_are_equal(&forecast->wish, wish) && forecast_has_job(forecast, job);
}

static struct forecast *forecasts_find(struct forecasts *forecasts,
                                       const struct process_command *command,
                                       const struct buffer *job, const struct tree_wish *wish)
{
    LIST_FOR_EACH (&forecasts->all, link) {
        struct forecast *forecast = CONTAINER_OF(link, struct forecast, link);

        if (forecast_is_for(forecast, command, job, wish))
            return forecast;
    }
    return NULL;
}

struct forecast *forecasts_hold(struct forecasts *forecasts, const struct process_command *command,
                                const struct buffer *job, const struct tree_wish *wish)
{
    struct forecast *forecast = forecasts_find(forecasts, command, job, wish);
    struct preloads *preloads = preloads_hold(command->preloads);

    if (!forecast) {
        forecast = forecast_new(command, job, wish);
        forecast->forecasts = forecasts;
        list_append(&forecasts->all, &forecast->link);
    }
    recurrent_withdraw(&forecast->recurrent);
    recurrence_keep(command->recurrence, &forecast->recurrent);
    preloads_drop(forecast->preloads);
    forecast->preloads = preloads;
    return forecast_hold(forecast);
}

static void forecasts_after(struct forecasts *forecasts, ev_timer *timer, double seconds)
{
    if (ev_is_active(timer))
        return;
    ev_timer_set(timer, seconds, 0.);
    ev_timer_start(forecasts->loop, timer);
}

/* True when the zygote of FORECAST has imported what it is to import, or there can be none. */
static bool forecast_has_settled_zygote(struct forecast *forecast)
{
    struct forecasts *forecasts = forecast->forecasts;
    struct waiting *zygote;

    if (!waiting_room_restock(&forecasts->zygotes, &forecast->zygote, clock_seconds()))
        return true;
    zygote = forecast_zygote(forecast);
    return zygote && forecasts->ways->load(zygote, forecast->preloads);
}

/* Under a load that does not end, something always waits or comes before it is due, so the zygote
 * is told what to import here, too. */
static void forecast_load(struct forecast *forecast)
{
    struct waiting *zygote = forecast_zygote(forecast);

    if (zygote)
        (void)forecast->forecasts->ways->load(zygote, forecast->preloads);
}

/* A forecast that has to wait for its zygote stays due. */
static void forecast_start(struct forecast *forecast)
{
    struct forecasts *forecasts = forecast->forecasts;

    if (!forecast_has_settled_zygote(forecast))
        return;
    if (!forecast_zygote(forecast))
        forecast->pythons.wanted = 1; /* a Python that is no worker costs ten times as much */
    (void)waiting_room_restock(&forecasts->pythons, &forecast->pythons, clock_seconds());
    forecast_settle(forecast);
}

static void forecasts_on_start(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct forecasts *forecasts = CONTAINER_OF(timer, struct forecasts, start);

    (void)loop;
    (void)events;
    LIST_FOR_EACH_SAFE (&forecasts->all, link) {
        struct forecast *forecast = CONTAINER_OF(link, struct forecast, link);

        if (forecast->is_due)
            forecast_start(forecast);
    }
    forecasts_after(forecasts, &forecasts->expire, FORECAST_EXPIRE_SECONDS);
}

static void forecasts_on_expire(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct forecasts *forecasts = CONTAINER_OF(timer, struct forecasts, expire);
    const double now = clock_seconds();
    const bool is_used = waiting_room_expire(&forecasts->pythons, now);

    (void)loop;
    (void)events;
    if (waiting_room_expire(&forecasts->zygotes, now) || is_used)
        forecasts_after(forecasts, timer, FORECAST_EXPIRE_SECONDS);
}

void forecasts_init(struct forecasts *forecasts)
{
    list_init(&forecasts->all);
    waiting_room_init(&forecasts->zygotes, &forecasts->ways->zygotes);
    waiting_room_init(&forecasts->pythons, &forecasts->ways->pythons);
    ev_init(&forecasts->start, forecasts_on_start);
    ev_init(&forecasts->expire, forecasts_on_expire);
}

void forecasts_deinit(struct forecasts *forecasts)
{
    ev_timer_stop(forecasts->loop, &forecasts->start);
    ev_timer_stop(forecasts->loop, &forecasts->expire);
    LIST_FOR_EACH_SAFE (&forecasts->all, link)
        forecast_settle(CONTAINER_OF(link, struct forecast, link));
}

struct process_ahead forecasts_describe(const struct forecasts *forecasts)
{
    const struct waiting_sum zygotes = waiting_room_sum(&forecasts->zygotes);

    return (struct process_ahead){.waiting = waiting_room_sum(&forecasts->pythons).count,
                                  .zygotes = zygotes.count,
                                  .zygote_memory = zygotes.memory};
}

void forecasts_note_zygote(struct forecasts *forecasts, struct waiting *zygote, uint64_t memory)
{
    zygote->is_ready = true;
    zygote->memory = memory;
    waiting_room_bound(&forecasts->zygotes, zygote, 0);
    forecasts_look_again(forecasts);
}

void forecasts_look_again(struct forecasts *forecasts)
{
    forecasts_after(forecasts, &forecasts->start, 0.);
}

void forecast_expect(struct forecast *forecast)
{
    struct forecasts *forecasts = forecast->forecasts;

    forecast_load(forecast);
    if (forecast->is_due || list_is_empty(&forecast->recurrent.link) ||
        waiting_room_count(&forecasts->pythons, &forecast->pythons) >= forecast->pythons.wanted) {
        forecast_drop(forecast);
        return;
    }
    forecast->is_due = true;
    forecasts_after(forecasts, &forecasts->start, FORECAST_DELAY_SECONDS);
}

struct waiting *forecast_zygote(const struct forecast *forecast)
{
    struct waiting *zygote = waiting_room_find(&forecast->forecasts->zygotes, &forecast->zygote);

    return zygote && zygote->is_ready ? zygote : NULL;
}

/* The caller holds FORECAST. If it is due, it has come too late: it is started behind this process;
 * but beside it where nothing waits, or calls that follow at once would never find anything. */
struct waiting *forecast_take(struct forecast *forecast)
{
    struct forecasts *forecasts = forecast->forecasts;
    struct waiting *zygote = forecast_zygote(forecast);
    struct waiting *python =
        waiting_room_take(&forecasts->pythons, &forecast->pythons, clock_seconds());

    if (zygote || python)
        forecast_settle(forecast);
    if (!zygote)
        return python;
    waiting_room_use(&forecasts->zygotes, zygote, clock_seconds());
    if (python && python->is_ready)
        expectation_open(&forecast->zygote);
    else
        expectation_raise(&forecast->pythons);
    return python;
}
