#include "environments/executor.h"

#include "base/memory.h"
#include "environments/run_private.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct executor {
    struct executor_settings settings;
    struct list clients;  /* of struct executor_client: clients with waiting runs, next one first */
    struct list going;    /* of struct run: runs with a place */
    unsigned going_count; /* of them, on this machine */
    unsigned elsewhere_count; /* on others */
    unsigned waiting_count;
    unsigned long next_number;
    bool stopping;
    ev_timer dispatch; /* gives out places from the loop, so that no callback comes from submit */
};

struct ev_loop *executor_loop(const struct executor *executor)
{
    return executor->settings.loop;
}

static void schedule_dispatch(struct executor *executor)
{
    if (executor->waiting_count > 0 && !ev_is_active(&executor->dispatch))
        ev_timer_start(executor->settings.loop, &executor->dispatch);
}

bool executor_has_another_in(const struct executor *executor, const struct run *run)
{
    LIST_FOR_EACH (&executor->going, link) {
        const struct run *other = CONTAINER_OF(link, struct run, link);

        if (other != run && other->directory == run->directory)
            return true;
    }
    return false;
}

static const struct environment_machines *executor_machines_of(const struct run *run)
{
    return environment_machines_of(run->request.environment);
}

static unsigned *executor_counter(struct executor *executor, const struct run *run)
{
    return executor_machines_of(run) ? &executor->elsewhere_count : &executor->going_count;
}

/* How many of RUNS are on MACHINES. */
static unsigned executor_count(const struct list *runs, const struct environment_machines *machines)
{
    unsigned count = 0;

    LIST_FOR_EACH (runs, link)
        count += executor_machines_of(CONTAINER_OF(link, struct run, link)) == machines;
    return count;
}

/* The usual places of MACHINES that are free. */
static unsigned executor_free_places(const struct executor *executor,
                                     const struct environment_machines *machines)
{
    const unsigned places = machines ? machines->places : executor->settings.concurrent_runs;
    const unsigned going =
        machines ? executor_count(&executor->going, machines) : executor->going_count;

    return places > going ? places - going : 0;
}

/* Beyond it nobody gets a place. */
static unsigned executor_most_places(const struct executor *executor)
{
    return 2 * executor->settings.concurrent_runs;
}

/* How many runs an owner has, and how many of them came by one client. */
struct executor_share {
    unsigned of_owner;
    unsigned of_client;
};

/* Adds the RUNS of OWNER on MACHINES. A cancelled run counts for its owner until it is gone. */
static void executor_add_share(struct executor_share *share, const struct list *runs,
                               const struct environment_machines *machines,
                               const struct executor_client *client, const char *owner)
{
    LIST_FOR_EACH (runs, link) {
        const struct run *run = CONTAINER_OF(link, struct run, link);

        if (executor_machines_of(run) != machines || strcmp(run->owner, owner) != 0)
            continue;
        share->of_owner++;
        share->of_client += run->client == client;
    }
}

/* The runs of the owner and the client of RUN that are going on its machines. */
static struct executor_share executor_share_of(const struct executor *executor,
                                               const struct run *run)
{
    struct executor_share share = {0};

    executor_add_share(&share, &executor->going, executor_machines_of(run), run->client,
                       run->owner);
    return share;
}

/* True when a client with SHARE going gets a place, on this machine even if all are taken. */
static bool executor_has_place(const struct executor *executor,
                               const struct environment_machines *machines,
                               struct executor_share share)
{
    unsigned places = executor->settings.concurrent_runs;

    if (machines)
        return executor_free_places(executor, machines) > 0;
    if (share.of_owner == 0)
        return executor->going_count < executor_most_places(executor);
    if (share.of_client == 0)
        return executor->going_count < places + (places + 1) / 2;
    return executor->going_count < places;
}

/* Of OWNER, on all machines. */
static unsigned executor_runs_of(const struct executor *executor, const char *owner)
{
    unsigned count = 0;

    LIST_FOR_EACH (&executor->going, link)
        count += strcmp(CONTAINER_OF(link, struct run, link)->owner, owner) == 0;
    return count;
}

/* Where scripts cannot be laid over another, runs in one directory take turns. */
static bool is_startable(const struct executor *executor, const struct run *run)
{
    const struct executor_share share = executor_share_of(executor, run);

    if (!executor_has_place(executor, executor_machines_of(run), share) ||
        (run->request.owner_runs > 0 &&
         executor_runs_of(executor, run->owner) >= run->request.owner_runs))
        return false;
    return !executor_has_another_in(executor, run) ||
           (environment_can_overlap(run->request.environment) &&
            !working_directory_is_busy(run->directory, true));
}

static void executor_dequeue(struct executor *executor, struct run *run)
{
    struct executor_client *client = run->client;

    list_remove(&run->link);
    executor->waiting_count--;
    if (--client->waiting_count == 0)
        list_remove(&client->link);
}

/* Puts RUN in front of POSITION in its client's queue. */
static void executor_enqueue(struct executor *executor, struct run *run, struct list *position)
{
    struct executor_client *client = run->client;

    list_append(position, &run->link);
    executor->waiting_count++;
    if (client->waiting_count++ == 0)
        list_append(&executor->clients, &client->link);
}

static struct run *first_startable(const struct executor *executor,
                                   const struct executor_client *client)
{
    LIST_FOR_EACH (&client->waiting, link) {
        struct run *run = CONTAINER_OF(link, struct run, link);

        if (is_startable(executor, run))
            return run;
    }
    return NULL;
}

static bool executor_is_before(struct executor_share share, struct executor_share other)
{
    if (share.of_owner != other.of_owner)
        return share.of_owner < other.of_owner;
    return share.of_client < other.of_client;
}

/* The run that goes next, or NULL. */
static struct run *executor_choose(const struct executor *executor)
{
    struct executor_share fewest = {0};
    struct run *chosen = NULL;

    LIST_FOR_EACH (&executor->clients, link) {
        struct run *run =
            first_startable(executor, CONTAINER_OF(link, struct executor_client, link));
        const struct executor_share share = run ? executor_share_of(executor, run) : fewest;

        if (!run || (chosen && !executor_is_before(share, fewest)))
            continue;
        chosen = run;
        fewest = share;
    }
    return chosen;
}

/* Takes the next run out of the queue, or NULL. The next run of its client comes after the runs of
 * other clients that have as few going. */
static struct run *take_next(struct executor *executor)
{
    struct run *run = executor_choose(executor);
    struct executor_client *client;

    if (!run)
        return NULL;
    client = run->client;
    executor_dequeue(executor, run);
    if (client->waiting_count > 0) {
        list_remove(&client->link);
        list_append(&executor->clients, &client->link);
    }
    return run;
}

static void executor_on_dispatch(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct executor *executor = CONTAINER_OF(timer, struct executor, dispatch);
    struct run *run;

    (void)loop;
    (void)events;
    while ((run = take_next(executor))) {
        list_append(&executor->going, &run->link);
        ++*executor_counter(executor, run);
        run_begin(run);
    }
}

void executor_leave(struct executor *executor, struct run *run)
{
    if (run->state == RUN_WAITING) {
        executor_dequeue(executor, run);
        return;
    }
    list_remove(&run->link);
    --*executor_counter(executor, run);
    schedule_dispatch(executor);
}

void executor_requeue(struct executor *executor, struct run *run)
{
    list_remove(&run->link);
    --*executor_counter(executor, run);
    executor_enqueue(executor, run, run->client->waiting.next);
    schedule_dispatch(executor);
}

struct executor *executor_new(const struct executor_settings *settings)
{
    struct executor *executor = NEW(struct executor);

    assert(settings->concurrent_runs > 0);
    executor->settings = *settings;
    list_init(&executor->clients);
    list_init(&executor->going);
    ev_timer_init(&executor->dispatch, executor_on_dispatch, 0., 0.);
    return executor;
}

void executor_set_limits(struct executor *executor, const struct executor_settings *settings)
{
    struct ev_loop *loop = executor->settings.loop;

    assert(settings->concurrent_runs > 0);
    executor->settings = *settings;
    executor->settings.loop = loop;
    schedule_dispatch(executor);
}

static void executor_cancel_waiting(struct executor *executor)
{
    while (!list_is_empty(&executor->clients)) {
        struct executor_client *client =
            CONTAINER_OF(executor->clients.next, struct executor_client, link);

        run_cancel(CONTAINER_OF(client->waiting.next, struct run, link));
    }
}

void executor_stop(struct executor *executor)
{
    executor->stopping = true;
    executor_cancel_waiting(executor);
    LIST_FOR_EACH_SAFE (&executor->going, link) {
        run_cancel(CONTAINER_OF(link, struct run, link));
    }
}

bool executor_is_idle(const struct executor *executor)
{
    return list_is_empty(&executor->going) && executor->waiting_count == 0;
}

unsigned executor_places(const struct executor *executor)
{
    return executor->settings.concurrent_runs;
}

unsigned executor_going(const struct executor *executor)
{
    return executor->going_count + executor->elsewhere_count;
}

unsigned executor_waiting(const struct executor *executor)
{
    return executor->waiting_count;
}

void executor_free(struct executor *executor)
{
    if (!executor)
        return;
    assert(executor_is_idle(executor));
    ev_timer_stop(executor->settings.loop, &executor->dispatch);
    free(executor);
}

void executor_client_init(struct executor_client *client)
{
    *client = (struct executor_client){0};
    list_init(&client->link);
    list_init(&client->waiting);
}

/* The runs that wait for MACHINES. */
static unsigned executor_waiting_for(const struct executor *executor,
                                     const struct environment_machines *machines)
{
    unsigned count = 0;

    LIST_FOR_EACH (&executor->clients, link)
        count +=
            executor_count(&CONTAINER_OF(link, struct executor_client, link)->waiting, machines);
    return count;
}

/* Runs that are about to begin count as going. */
static int fail_busy(const struct executor *executor, const struct environment_machines *machines,
                     struct error *err)
{
    const unsigned begins = executor_free_places(executor, machines);
    const unsigned going = executor_count(&executor->going, machines) + begins;
    const unsigned waiting = executor_waiting_for(executor, machines) - begins;

    return error_set(err, ERROR_BUSY,
                     "%s busy: %u runs are going and %u are waiting; try again in a few seconds",
                     machines ? "all machines of the environment are" : "the server is", going,
                     waiting);
}

static int executor_fail_share(unsigned waiting, struct error *err)
{
    return error_set(
        err, ERROR_BUSY,
        "the server is busy: %u of your runs are waiting already; try again when some have ended",
        waiting);
}

/* The waiting runs of the owner and the client of REQUEST on its machines. */
static struct executor_share executor_waiting_share(const struct executor *executor,
                                                    const struct run_request *request)
{
    struct executor_share share = {0};

    LIST_FOR_EACH (&executor->clients, link) {
        executor_add_share(&share, &CONTAINER_OF(link, struct executor_client, link)->waiting,
                           environment_machines_of(request->environment), request->client,
                           request->owner);
    }
    return share;
}

/* A run that gets a place at once does not wait, so the free places count beside the queue, and a
 * client without any run is not refused while executor_has_place grants it a place. */
static int check_queue(const struct executor *executor, const struct run_request *request,
                       struct error *err)
{
    const struct executor_settings *settings = &executor->settings;
    const struct executor_share waiting = executor_waiting_share(executor, request);
    struct executor_share all = waiting;
    const struct environment_machines *machines = environment_machines_of(request->environment);
    unsigned places = executor_free_places(executor, machines);

    if (executor->stopping)
        return error_set(err, ERROR_UNAVAILABLE, "the server is stopping");
    executor_add_share(&all, &executor->going, machines, request->client, request->owner);
    if (all.of_client == 0 && executor_has_place(executor, machines, all))
        return 0;
    if (executor_waiting_for(executor, machines) >= settings->queued_runs + places)
        return fail_busy(executor, machines, err);
    if (waiting.of_client >= settings->queued_runs_per_client + places)
        return executor_fail_share(waiting.of_client - places, err);
    if (waiting.of_owner >= settings->queued_runs_per_owner + places)
        return executor_fail_share(waiting.of_owner - places, err);
    return 0;
}

struct run *executor_submit(struct executor *executor, const struct run_request *request,
                            struct error *err)
{
    struct run_request owned = *request;
    struct run *run;

    if (!owned.owner)
        owned.owner = "";
    if (check_queue(executor, &owned, err) < 0)
        return NULL;
    run = run_new(executor, &owned, executor->next_number++);
    executor_enqueue(executor, run, &request->client->waiting);
    schedule_dispatch(executor);
    return run;
}
