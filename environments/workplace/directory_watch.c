#include "environments/workplace/directory_watch.h"

#include "base/clock.h"
#include "base/state.h"
#include "environments/workplace/disk_share.h"
#include "environments/workplace/workplace_private.h"

#define DIRECTORY_WATCH_LOOK_SECONDS 0.05 /* between two looks at the file system */
#define DIRECTORY_WATCH_MOST_SECONDS 1.   /* between two measures, of a small directory */

enum {
    STEP_OPERATIONS = 500, /* in one turn of the loop */
    PATIENCE = 20000,      /* operations that a run waits for before it starts */
    SHARE = 4,             /* measuring takes a fifth of the time at most ... */
    PERIODIC_SHARE = 20,   /* ... and much less without a reason */
};

static const struct state directory_watch_states[] = {
    [DIRECTORY_WATCH_OFF] = {"off", 1 << DIRECTORY_WATCH_FOUNDING | 1 << DIRECTORY_WATCH_FINISHING},
    [DIRECTORY_WATCH_FOUNDING] = {"founding",
                                  1 << DIRECTORY_WATCH_LOOKING | 1 << DIRECTORY_WATCH_OFF},
    [DIRECTORY_WATCH_LOOKING] = {"looking",
                                 1 << DIRECTORY_WATCH_MEASURING | 1 << DIRECTORY_WATCH_OFF},
    [DIRECTORY_WATCH_MEASURING] = {"measuring",
                                   1 << DIRECTORY_WATCH_LOOKING | 1 << DIRECTORY_WATCH_OFF},
    [DIRECTORY_WATCH_FINISHING] = {"finishing", 1 << DIRECTORY_WATCH_OFF},
};

static void directory_watch_set_timer(struct directory_watch *watch, double seconds)
{
    ev_timer_stop(watch->loop, &watch->timer);
    ev_timer_set(&watch->timer, seconds, 0.);
    ev_timer_start(watch->loop, &watch->timer);
}

static void directory_watch_set_state(struct directory_watch *watch,
                                      enum directory_watch_state state)
{
    state_change(directory_watch_states, watch->state, state, "watch of %s",
                 working_directory_path(watch->claim->directory));
    watch->state = state;
    switch (state) {
    case DIRECTORY_WATCH_OFF:
        ev_timer_stop(watch->loop, &watch->timer);
        break;
    case DIRECTORY_WATCH_LOOKING:
        directory_watch_set_timer(watch, DIRECTORY_WATCH_LOOK_SECONDS);
        break;
    case DIRECTORY_WATCH_FOUNDING:
    case DIRECTORY_WATCH_MEASURING:
    case DIRECTORY_WATCH_FINISHING:
        directory_watch_set_timer(watch, 0.);
        break;
    }
}

static int directory_watch_fd(const struct directory_watch *watch)
{
    return working_directory_fd(watch->claim->directory);
}

static uint64_t used_bytes(const struct directory_watch *watch)
{
    return disk_space_used(directory_watch_fd(watch));
}

static uint64_t growth_from(uint64_t before, uint64_t now)
{
    return now > before ? now - before : 0;
}

/* USED is what the file system has now. SEEN: the newest look at the directory, or NULL. */
static void measure_from_here(struct directory_watch *watch, uint64_t used,
                              const struct directory_listing *seen)
{
    uint64_t bytes;

    watch->used_then = used;
    watch->measured_at = clock_seconds();
    if (seen && directory_listing_measures(seen, &bytes))
        directory_measure_know(&watch->measure, bytes);
    else
        directory_measure_begin(&watch->measure, directory_watch_fd(watch));
}

/* The directory takes what the measure has seen. KNOWN: at least this, if it has not seen all. */
static uint64_t directory_watch_note(struct directory_watch *watch, uint64_t known)
{
    const struct directory_measure *measure = &watch->measure;
    uint64_t bytes = measure->is_complete || measure->bytes > known ? measure->bytes : known;

    working_directory_note(watch->claim->directory, bytes);
    return bytes;
}

/* Sets how much growth is allowed, after a measure. Growth from before the share was used up is
 * allowed. */
static void directory_watch_allow(struct directory_watch *watch)
{
    bool was_used_up = watch->share.is_used_up;

    watch->share = working_directory_share(watch->claim->directory);
    if (!watch->share.is_used_up)
        watch->allowed = watch->limit;
    else if (!was_used_up)
        watch->allowed = watch->growth + DISK_SHARE_TIDYING_BYTES;
    if (watch->allowed > watch->limit)
        watch->allowed = watch->limit;
}

static void take_foundation(struct directory_watch *watch)
{
    watch->before = directory_watch_note(watch, working_directory_bytes(watch->claim->directory));
    watch->is_founded = watch->measure.is_complete;
    directory_watch_allow(watch);
    watch->measured_until = clock_seconds();
    directory_measure_end(&watch->measure);
}

/* Without a foundation: what the file system has grown by, others' files too, but never more than
 * there is. */
static uint64_t estimated_growth(const struct directory_watch *watch)
{
    uint64_t growth = growth_from(watch->used_before, used_bytes(watch));

    return watch->measure.is_complete && watch->measure.bytes < growth ? watch->measure.bytes
                                                                       : growth;
}

/* The measure has come to its end. */
static void take_measure(struct directory_watch *watch)
{
    bool is_known = watch->is_founded && watch->measure.is_complete;

    watch->growth =
        is_known ? growth_from(watch->before, watch->measure.bytes) : estimated_growth(watch);
    watch->measured_until = clock_seconds();
    (void)directory_watch_note(watch, watch->before + watch->growth);
    directory_watch_allow(watch);
    directory_measure_end(&watch->measure);
    watch->is_exceeded = watch->growth > watch->allowed;
}

/* The last one, which makes a survey needless. */
static void take_last_measure(struct directory_watch *watch)
{
    take_measure(watch);
    watch->claim->is_measured = true;
}

/* Bytes that can be written until the limit is exceeded or the share is used up. */
static uint64_t left_to_write(const struct directory_watch *watch)
{
    uint64_t left = growth_from(watch->growth, watch->allowed);
    uint64_t share = disk_share_left(&watch->share);

    if (watch->share.is_used_up || share >= left)
        return left;
    return share > DISK_SHARE_TIDYING_BYTES ? share : DISK_SHARE_TIDYING_BYTES;
}

/* True if half of the remaining bytes may have been used since the last measure. */
static bool is_suspicious(const struct directory_watch *watch, uint64_t used)
{
    return growth_from(watch->used_then, used) > left_to_write(watch) / 2;
}

static bool is_time_to_measure(const struct directory_watch *watch, uint64_t used)
{
    double now = clock_seconds();
    double took = watch->measured_until - watch->measured_at;

    if (now > watch->measured_until + DIRECTORY_WATCH_MOST_SECONDS + PERIODIC_SHARE * took)
        return true;
    return is_suspicious(watch, used) && now > watch->measured_until + SHARE * took;
}

static void directory_watch_look(struct directory_watch *watch)
{
    const uint64_t used = used_bytes(watch);

    if (!is_time_to_measure(watch, used)) {
        directory_watch_set_timer(watch, DIRECTORY_WATCH_LOOK_SECONDS);
        return;
    }
    measure_from_here(watch, used, NULL);
    directory_watch_set_state(watch, DIRECTORY_WATCH_MEASURING);
}

/* Goes on after a measure, or ends the watch and reports the result. */
static void directory_watch_conclude(struct directory_watch *watch)
{
    bool was_last = watch->state == DIRECTORY_WATCH_FINISHING;

    if (!was_last && !watch->is_exceeded) {
        directory_watch_set_state(watch, DIRECTORY_WATCH_LOOKING);
        return;
    }
    directory_watch_set_state(watch, DIRECTORY_WATCH_OFF);
    (was_last ? watch->finished : watch->exceeded)(watch);
}

/* Reports the foundation before it is complete, if the caller has waited long enough. */
static void directory_watch_hurry(struct directory_watch *watch)
{
    if (watch->state != DIRECTORY_WATCH_FOUNDING || watch->patience == 0)
        return;
    watch->patience -= STEP_OPERATIONS;
    if (watch->patience > 0)
        return;
    clock_gettime(CLOCK_REALTIME_COARSE, &watch->measure.until);
    watch->founded(watch);
}

static void directory_watch_found(struct directory_watch *watch)
{
    bool is_awaited = watch->patience > 0;

    take_foundation(watch);
    directory_watch_set_state(watch, DIRECTORY_WATCH_LOOKING);
    if (is_awaited)
        watch->founded(watch);
}

static void directory_watch_go_on(struct directory_watch *watch)
{
    if (directory_measure_step(&watch->measure, STEP_OPERATIONS)) {
        directory_watch_set_timer(watch, 0.);
        directory_watch_hurry(watch);
    } else if (watch->state == DIRECTORY_WATCH_FOUNDING) {
        directory_watch_found(watch);
    } else if (watch->state == DIRECTORY_WATCH_FINISHING) {
        take_last_measure(watch);
        directory_watch_conclude(watch);
    } else {
        take_measure(watch);
        directory_watch_conclude(watch);
    }
}

static void directory_watch_on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct directory_watch *watch = CONTAINER_OF(timer, struct directory_watch, timer);

    (void)loop;
    (void)events;
    if (watch->state == DIRECTORY_WATCH_LOOKING)
        directory_watch_look(watch);
    else
        directory_watch_go_on(watch);
}

enum outcome directory_watch_begin(struct directory_watch *watch, struct directory_claim *claim,
                                   const struct directory_listing *seen)
{
    ev_timer_init(&watch->timer, directory_watch_on_timer, 0., 0.);
    watch->claim = claim;
    watch->is_exceeded = false;
    watch->is_founded = false;
    watch->growth = 0;
    watch->share = disk_share_of(0, UINT64_MAX); /* until it is known */
    watch->allowed = watch->limit;
    watch->patience = PATIENCE;
    watch->used_before = used_bytes(watch);
    measure_from_here(watch, watch->used_before, seen);
    directory_watch_set_state(watch, DIRECTORY_WATCH_FOUNDING);
    if (directory_measure_step(&watch->measure, STEP_OPERATIONS))
        return OUTCOME_PENDING;
    take_foundation(watch);
    directory_watch_set_state(watch, DIRECTORY_WATCH_LOOKING);
    return OUTCOME_READY;
}

enum outcome directory_watch_finish(struct directory_watch *watch,
                                    const struct directory_listing *seen)
{
    uint64_t used;
    bool is_awaited;

    if (watch->state == DIRECTORY_WATCH_OFF)
        return OUTCOME_READY;
    used = used_bytes(watch);
    is_awaited = is_suspicious(watch, used);
    directory_watch_end(watch);
    /* A small directory in any case: others may have freed what has been written here. */
    measure_from_here(watch, used, seen);
    if (!directory_measure_step(&watch->measure, STEP_OPERATIONS)) {
        take_last_measure(watch);
        return OUTCOME_READY;
    }
    if (is_awaited) {
        directory_watch_set_state(watch, DIRECTORY_WATCH_FINISHING);
        return OUTCOME_PENDING;
    }
    directory_measure_end(&watch->measure);
    return OUTCOME_READY;
}

void directory_watch_end(struct directory_watch *watch)
{
    if (watch->state == DIRECTORY_WATCH_OFF)
        return;
    if (watch->state != DIRECTORY_WATCH_LOOKING)
        directory_measure_end(&watch->measure);
    directory_watch_set_state(watch, DIRECTORY_WATCH_OFF);
}

struct disk_share directory_watch_share(const struct directory_watch *watch)
{
    return watch->is_exceeded && watch->growth <= watch->limit ? watch->share
                                                               : (struct disk_share){0};
}
