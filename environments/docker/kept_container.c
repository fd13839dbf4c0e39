#include "environments/docker/kept_container.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/random.h"
#include "environments/docker/end.h"
#include "environments/docker/image.h"
#include "environments/docker/site.h"
#include "environments/engine/container.h"
#include "environments/engine/exec.h"
#include "environments/engine/last_words.h"
#include "environments/run_variables.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define IDLE_SECONDS 3600.        /* after which nobody is expected to come back */
#define LOOK_SECONDS 60.          /* between two looks for such */
#define LIFE_SECONDS (7. * 86400) /* of one that is used all the time */

enum { MOST = 16 }; /* the one that was used longest ago goes for a new one */

enum kept_state {
    KEPT_STARTING, /* waits for the engine */
    KEPT_IDLE,
    KEPT_BUSY,
    KEPT_ENDING, /* waits for the engine to kill it; or is over, and its call is not */
};

struct kept_container {
    struct list link;
    struct docker_kept *kept; /* borrowed */
    enum kept_state state;
    struct container container;
    struct container_end end; /* once it is over */
    bool is_over;
    struct kept_call *call; /* borrowed: who uses it, or waits for it; NULL: nobody */
    char *name;             /* owned */
    char *directory;        /* owned: the working directory that it has */
    double started_at;      /* monotonic seconds */
    double used_at;
};

/* One script in such a container. */
struct kept_call {
    struct execution execution;
    struct kept_container *container; /* borrowed */
    struct exec exec;
    struct container_end end; /* of the exec, once it is over */
    bool is_begun;
    bool is_over; /* or will never begin */
    bool killed;
    bool has_words;
    struct last_words words;
    struct last_words_reader errors;
    char *python;      /* owned: the program */
    char *user;        /* owned */
    char *script;      /* owned: its path in the container */
    char **variables;  /* owned: its own; or NULL */
    double timeout;    /* seconds */
    double started_at; /* monotonic seconds */
};

static void container_free(struct kept_container *container)
{
    container_cancel(&container->container);
    list_remove(&container->link);
    free(container->name);
    free(container->directory);
    free(container);
}

static void kept_container_call_free(struct kept_call *call)
{
    free(call->python);
    free(call->user);
    free(call->script);
    run_variables_free(call->variables);
    free(call);
}

/* The end */

static struct execution_end describe_end(const struct kept_call *call)
{
    const struct kept_container *container = call->container;
    const struct container_end *seen = container->is_over ? &container->end : &call->end;
    const struct docker_observation observation = {
        .killed = call->killed,
        .out_of_memory = seen->out_of_memory,
        .exit_code = seen->exit_code,
        .seconds = clock_seconds() - call->started_at,
        .failure = seen->failure,
    };

    return docker_end(&observation, call->has_words ? &call->words : NULL, call->python);
}

/* The one way out of a call. */
static void kept_container_finish(struct kept_call *call)
{
    struct kept_container *container = call->container;
    struct execution_listener *listener = call->execution.listener;
    struct execution_end end = describe_end(call);

    container->call = NULL;
    container->used_at = clock_seconds();
    kept_container_call_free(call);
    if (container->is_over)
        container_free(container);
    else
        container->state = KEPT_IDLE;
    listener->ended(listener, &end);
}

/* A container that ends is waited for: only then nothing of the call is left. */
static void finish_when_over(struct kept_call *call)
{
    if (call->is_over && (call->container->state != KEPT_ENDING || call->container->is_over))
        kept_container_finish(call);
}

static void end_container(struct kept_container *container)
{
    if (container->state == KEPT_ENDING)
        return;
    container->state = KEPT_ENDING;
    container_kill(&container->container);
}

static bool is_clean(const struct kept_call *call)
{
    return call->has_words && call->words.flags == 0 && call->words.leftovers == 0;
}

static void kept_container_on_exec_ended(struct exec *exec, const struct container_end *end)
{
    struct kept_call *call = CONTAINER_OF(exec, struct kept_call, exec);

    call->end = *end;
    call->is_over = true;
    call->has_words = last_words_reader_end(&call->errors, &call->words);
    if (!is_clean(call)) {
        log_info("container %s is not used again: the call did not leave it as it was",
                 call->container->name);
        end_container(call->container);
    }
    finish_when_over(call);
}

static void kept_container_on_container_ended(struct container *ended,
                                              const struct container_end *end)
{
    struct kept_container *container = CONTAINER_OF(ended, struct kept_container, container);
    container->end = *end;
    container->is_over = true;
    container->state = KEPT_ENDING;
    if (end->status == DOCKER_NOT_FOUND)
        container->kept->site->is_stale = true;
    if (!container->call) {
        container_free(container);
        return;
    }
    if (!container->call->is_begun)
        container->call->is_over = true;
    finish_when_over(container->call);
}

/* The init passes no signal on: the script goes on until it ends or is killed. */
static void interrupt_call(struct execution *execution)
{
    (void)execution;
}

static void kill_call(struct execution *execution)
{
    struct kept_call *call = CONTAINER_OF(execution, struct kept_call, execution);

    call->killed = true;
    end_container(call->container);
}

/* The start of a call */

static void kept_container_on_errors(struct last_words_reader *reader, const char *data,
                                     size_t length)
{
    struct kept_call *call = CONTAINER_OF(reader, struct kept_call, errors);

    call->execution.listener->output(call->execution.listener, PROCESS_STDERR, data, length);
}

static void kept_container_on_output(struct exec *exec, enum frame_stream stream, const char *data,
                                     size_t length)
{
    struct kept_call *call = CONTAINER_OF(exec, struct kept_call, exec);

    if (stream == FRAME_STDERR)
        last_words_reader_feed(&call->errors, data, length);
    else
        call->execution.listener->output(call->execution.listener, PROCESS_STDOUT, data, length);
}

static void kept_container_execute(struct kept_call *call)
{
    struct kept_container *kept = call->container;
    struct docker_site *site = kept->kept->site;
    AUTO_FREE char *nonce = random_digits(LAST_WORDS_NONCE);
    AUTO_JSON json_t *definition = NULL;
    const char *const program[] = {call->python, call->script, NULL};
    struct docker_container container = docker_site_container(site, DOCKER_KEEP);

    kept->state = KEPT_BUSY;
    call->is_begun = true;
    container.user = call->user;
    container.nonce = nonce;
    container.seconds = call->timeout + DOCKER_GRACE_SECONDS;
    container.program = program;
    container.variables = (const char *const *)call->variables;
    definition = docker_exec_describe(&container);
    last_words_reader_init(&call->errors, nonce);
    call->errors.output = kept_container_on_errors;
    call->exec =
        (struct exec){.output = kept_container_on_output, .ended = kept_container_on_exec_ended};
    exec_start(&call->exec, site->engine,
               &(struct exec_plan){
                   .container = container_id(&kept->container),
                   .definition = definition,
                   .start_timeout = docker_site_startup_seconds(site),
               });
}

static void kept_container_on_container_started(struct container *started)
{
    struct kept_container *container = CONTAINER_OF(started, struct kept_container, container);

    struct kept_call *call = container->call;

    if (container->state != KEPT_STARTING)
        return;
    kept_container_execute(call);
    call->execution.listener->began(call->execution.listener);
}

/* The containers */

static void kept_container_start(struct kept_container *kept, const struct docker_facts *image,
                                 const char *user, const json_t *mounts)
{
    struct docker_site *site = kept->kept->site;
    AUTO_JSON json_t *labels = docker_site_labels(site, LIFE_SECONDS);
    AUTO_JSON json_t *definition = NULL;
    struct docker_container container = docker_site_container(site, DOCKER_KEEP);

    container.image = image->id;
    container.volumes = image->volumes;
    container.user = user;
    container.seconds = LIFE_SECONDS;
    container.mounts = mounts;
    container.labels = labels;
    definition = docker_container_describe(&container);
    container_start(&kept->container, site->engine,
                    &(struct container_plan){
                        .name = kept->name,
                        .definition = definition,
                        .start_timeout = docker_site_startup_seconds(site),
                    });
}

static struct kept_container *container_new(struct docker_kept *kept, const char *directory)
{
    struct kept_container *container = NEW(struct kept_container);

    container->kept = kept;
    container->state = KEPT_STARTING;
    container->container.started = kept_container_on_container_started;
    container->container.ended = kept_container_on_container_ended;
    container->name = docker_site_name(kept->site);
    container->directory = memory_copy_string(directory);
    container->started_at = clock_seconds();
    list_append(&kept->containers, &container->link);
    return container;
}

static struct kept_container *kept_container_find(struct docker_kept *kept, const char *directory)
{
    LIST_FOR_EACH (&kept->containers, link) {
        struct kept_container *container = CONTAINER_OF(link, struct kept_container, link);

        if (container->state != KEPT_ENDING && strcmp(container->directory, directory) == 0)
            return container;
    }
    return NULL;
}

/* The one that was used longest ago, of all that nobody uses. */
static void kept_container_make_room(struct docker_kept *kept)
{
    struct kept_container *oldest = NULL;
    size_t count = 0;

    LIST_FOR_EACH (&kept->containers, link) {
        struct kept_container *container = CONTAINER_OF(link, struct kept_container, link);

        count++;
        if (container->state == KEPT_IDLE && (!oldest || container->used_at < oldest->used_at))
            oldest = container;
    }
    if (count >= MOST && oldest)
        container_free(oldest);
}

/* One that would end by itself before the call does is replaced. */
static bool kept_container_lasts(const struct kept_container *container, double timeout)
{
    return clock_seconds() + timeout + DOCKER_GRACE_SECONDS < container->started_at + LIFE_SECONDS;
}

static struct kept_call *kept_container_call_new(const struct docker_kept *kept,
                                                 const struct docker_python_facts *python,
                                                 const struct execution_request *request,
                                                 struct execution_listener *listener)
{
    struct kept_call *call = NEW(struct kept_call);

    call->execution =
        (struct execution){.listener = listener, .interrupt = interrupt_call, .kill = kill_call};
    call->python = memory_copy_string(python->program);
    call->user = docker_site_user(kept->site);
    call->script = docker_site_script(request);
    call->variables = run_variables_copy(request->variables);
    call->timeout = request->timeout;
    call->started_at = clock_seconds();
    return call;
}

struct execution *docker_kept_start(struct docker_kept *kept, const struct docker_facts *image,
                                    const struct docker_python_facts *python,
                                    const struct execution_request *request,
                                    struct execution_listener *listener, struct error *err)
{
    struct kept_container *container = kept_container_find(kept, request->directory);
    AUTO_JSON json_t *mounts = docker_site_mounts(kept->site, request, err);
    struct kept_call *call;

    if (!mounts)
        return NULL;
    if (container && container->state != KEPT_IDLE) {
        error_set(err, ERROR_BUSY, "the container of the working directory is in use");
        return NULL;
    }
    if (container && !kept_container_lasts(container, request->timeout)) {
        container_free(container);
        container = NULL;
    }
    call = kept_container_call_new(kept, python, request, listener);
    if (!container) {
        kept_container_make_room(kept);
        container = container_new(kept, request->directory);
        kept_container_start(container, image, call->user, mounts);
    }
    call->execution.is_starting = container->state == KEPT_STARTING;
    call->container = container;
    container->call = call;
    if (container->state == KEPT_IDLE)
        kept_container_execute(call);
    return &call->execution;
}

static void kept_container_on_look(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct docker_kept *kept = CONTAINER_OF(timer, struct docker_kept, look);

    (void)loop;
    (void)events;
    LIST_FOR_EACH_SAFE (&kept->containers, link) {
        struct kept_container *container = CONTAINER_OF(link, struct kept_container, link);

        if (container->state == KEPT_IDLE && container->used_at + IDLE_SECONDS < clock_seconds())
            container_free(container);
    }
}

void docker_kept_init(struct docker_kept *kept, struct docker_site *site)
{
    kept->site = site;
    list_init(&kept->containers);
    ev_timer_init(&kept->look, kept_container_on_look, LOOK_SECONDS, LOOK_SECONDS);
}

void docker_kept_begin(struct docker_kept *kept)
{
    ev_timer_start(kept->site->environment->loop, &kept->look);
}

void docker_kept_stop(struct docker_kept *kept)
{
    struct ev_loop *loop = kept->site->environment->loop;

    if (ev_is_active(&kept->look))
        ev_timer_stop(loop, &kept->look);
    LIST_FOR_EACH_SAFE (&kept->containers, link) {
        container_free(CONTAINER_OF(link, struct kept_container, link));
    }
}
