#include "environments/docker/kept_container.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/state.h"
#include "environments/docker/end.h"
#include "environments/docker/image.h"
#include "environments/docker/kept_ask.h"
#include "environments/docker/output.h"
#include "environments/docker/script_file.h"
#include "environments/docker/site.h"
#include "environments/engine/exec.h"
#include "environments/process/waiting.h"
#include "environments/run_variables.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEPT_CONTAINER_LIFE_SECONDS (7. * 86400) /* even if calls keep coming */
#define KEPT_GO_SECONDS             30.          /* for a go that is on its way */

/* One script in a kept container. */
struct kept_call {
    struct execution execution;
    struct kept_container *container; /* borrowed */
    struct exec exec;
    struct container_end end; /* of the exec, once it is over */
    bool killed;
    bool out_of_disk;               /* killed for it */
    bool never_began;               /* its script has certainly not begun */
    bool is_lost;                   /* it may have begun or not */
    const struct last_words *words; /* of `output`, once it is over; or NULL */
    struct docker_output output;
    ev_prepare complete; /* fed, never started: it has ended, as its last words say */
    struct kept_ask ask;
    char *python;      /* owned: the program */
    char **program;    /* owned: what is executed */
    char **variables;  /* owned: its own; or NULL */
    double timeout;    /* seconds */
    double started_at; /* monotonic seconds */
};

static const struct state kept_container_states[] = {
    [KEPT_CONTAINER_STARTING] = {"starting", 1 << KEPT_CONTAINER_BUSY | 1 << KEPT_CONTAINER_ENDING |
                                                 1 << KEPT_CONTAINER_OVER},
    [KEPT_CONTAINER_BUSY] = {"busy", 1 << KEPT_CONTAINER_IDLE | 1 << KEPT_CONTAINER_KILLING |
                                         1 << KEPT_CONTAINER_ENDING | 1 << KEPT_CONTAINER_DRAINING},
    [KEPT_CONTAINER_IDLE] = {"idle", 1 << KEPT_CONTAINER_BUSY | 1 << KEPT_CONTAINER_OVER},
    [KEPT_CONTAINER_KILLING] = {"killing",
                                1 << KEPT_CONTAINER_ENDING | 1 << KEPT_CONTAINER_DRAINING},
    [KEPT_CONTAINER_ENDING] = {"ending", 1 << KEPT_CONTAINER_OVER},
    [KEPT_CONTAINER_DRAINING] = {"draining", 1 << KEPT_CONTAINER_OVER},
    [KEPT_CONTAINER_OVER] = {"over", 0},
};

static void kept_container_set_state(struct kept_container *container,
                                     enum kept_container_state state)
{
    state_change(kept_container_states, container->state, state, "kept container %s",
                 container->name);
    container->state = state;
    if (state == KEPT_CONTAINER_IDLE) {
        container->used_at = clock_seconds();
        kept_size_finish(&container->size);
    }
    if (state == KEPT_CONTAINER_BUSY)
        kept_size_watch(&container->size, container_id(&container->container));
    if (state == KEPT_CONTAINER_KILLING || state == KEPT_CONTAINER_ENDING)
        container_kill(&container->container);
}

void kept_container_free(struct kept_container *container)
{
    container_cancel(&container->container);
    kept_wait_stop(&container->wait);
    json_decref(container->next);
    kept_size_end(&container->size);
    list_remove(&container->link);
    free(container->name);
    free(container->directory);
    close(container->script);
    free(container);
}

static void kept_call_free(struct kept_call *call)
{
    ev_clear_pending(engine_loop(call->container->site->engine), &call->complete);
    exec_cancel(&call->exec);
    docker_go_deinit(&call->ask.go);
    free(call->python);
    memory_free_strings(call->program);
    memory_free_strings(call->variables);
    free(call);
}

static bool was_clean(const struct last_words *words)
{
    return words->flags == 0 && words->leftovers == 0;
}

/* The output of a call */

static void kept_call_on_output(struct exec *exec, enum frame_stream stream, const char *data,
                                size_t length)
{
    struct kept_call *call = CONTAINER_OF(exec, struct kept_call, exec);

    docker_output_feed(&call->output, stream, data, length);
    if (!call->output.has_words)
        return;
    exec_dismiss(exec);
    if (call->output.words.failure == 0 && was_clean(&call->output.words))
        ev_feed_event(engine_loop(call->container->site->engine), &call->complete, EV_CUSTOM);
}

/* A call that begins */

static void kept_call_on_ended(struct exec *exec, const struct container_end *end);

/* The body of the request to create an exec for STEP. New reference. */
static json_t *kept_call_describe(const struct kept_call *call, enum kept_try step)
{
    static const double idle_seconds[] = {
        [KEPT_TRY_WAITING] = WAITING_SECONDS,
        [KEPT_TRY_OWN] = KEPT_GO_SECONDS,
    };
    AUTO_FREE char *user = docker_site_user(call->container->site);
    struct docker_container container = docker_site_container(call->container->site, DOCKER_KEEP);

    container.user = user;
    container.seconds = call->timeout + DOCKER_GRACE_SECONDS;
    container.idle_seconds = step == KEPT_TRY_PLAIN ? 0 : idle_seconds[step];
    container.program = (const char *const *)call->program;
    container.variables = (const char *const *)call->variables;
    return docker_exec_describe(&container);
}

static void kept_call_on_agreed(struct exec *exec)
{
    struct kept_call *call = CONTAINER_OF(exec, struct kept_call, exec);

    kept_ask_send(&call->ask, exec);
}

/* Starts a new exec for the call. */
static void kept_call_start_exec(struct kept_call *call, enum kept_try step)
{
    const struct kept_container *container = call->container;
    AUTO_JSON json_t *definition = kept_call_describe(call, step);

    docker_output_init(&call->output, call->execution.listener);
    call->output.is_mute = step != KEPT_TRY_PLAIN;
    kept_ask_begin(&call->ask, step);
    call->exec.agreed = step == KEPT_TRY_PLAIN ? NULL : kept_call_on_agreed;
    exec_start(&call->exec, container->site->engine,
               &(struct exec_plan){
                   .container = container_id(&container->container),
                   .definition = definition,
                   .start_timeout = container->site->definition.container_startup_timeout,
               });
}

/* Takes the run that waits in the container, also if the call needs another one. */
static void kept_call_take_wait(struct kept_call *call)
{
    struct kept_container *container = call->container;
    AUTO_JSON json_t *key = kept_call_describe(call, KEPT_TRY_WAITING);

    kept_ask_begin(&call->ask, KEPT_TRY_WAITING);
    call->ask.is_for_it = json_equal(container->wait.key, key);
    call->ask.seconds = kept_wait_seconds(&container->wait);
    docker_output_init(&call->output, call->execution.listener);
    call->output.is_mute = true;
    call->exec.agreed = kept_call_on_agreed;
    if (kept_wait_take(&container->wait, &call->exec, &call->output))
        kept_call_on_agreed(&call->exec);
}

static void kept_container_begin_call(struct kept_container *container)
{
    kept_container_set_state(container, KEPT_CONTAINER_BUSY);
    if (kept_wait_is_there(&container->wait))
        kept_call_take_wait(container->call);
    else
        kept_call_start_exec(container->call, container->is_deaf ? KEPT_TRY_PLAIN : KEPT_TRY_OWN);
}

void kept_container_rest(struct kept_container *container)
{
    if (container->state != KEPT_CONTAINER_IDLE || !container->next ||
        kept_wait_is_there(&container->wait))
        return;
    kept_wait_start(&container->wait, container->site, container_id(&container->container),
                    STEAL_PTR(container->next));
}

/* The end of a call */

/* Says why it is not known what the script has done, or that it has done nothing. */
static void kept_call_explain(const struct kept_call *call, struct process_end *end)
{
    const char *reason =
        *call->end.failure ? call->end.failure : "the container was removed from outside";

    if (call->killed || !(call->never_began || call->is_lost))
        return;
    end->vanished = call->never_began && !call->execution.is_starting;
    snprintf(end->failure, sizeof end->failure, "%s: %.400s",
             call->never_began ? "the script did not begin"
                               : "the connection to the container was lost when the script was to "
                                 "begin, so it may have run or not",
             reason);
}

static struct process_end kept_call_describe_end(const struct kept_call *call)
{
    const struct kept_container *container = call->container;
    const struct container_end *seen =
        container->state == KEPT_CONTAINER_OVER ? &container->end : &call->end;
    const struct docker_observation observation = {
        .killed = call->killed,
        .out_of_memory = seen->out_of_memory,
        .missing = container->site->missing,
        .exit_code = seen->exit_code,
        .seconds = clock_seconds() - call->started_at,
        .failure = seen->failure,
    };

    struct process_end end = docker_end(&observation, call->words, call->python);

    end.out_of_disk |= call->out_of_disk;
    end.ahead_seconds = call->output.has_begun ? call->ask.seconds : 0.;
    kept_call_explain(call, &end);
    return end;
}

/* The next call is expected to be like CALL. */
static void kept_container_expect(struct kept_container *container, const struct kept_call *call)
{
    json_decref(container->next);
    container->next = NULL;
    if (container->waits && !container->is_deaf)
        container->next = kept_call_describe(call, KEPT_TRY_WAITING);
}

/* The one way out of a call: its container is idle, or over and goes with it. */
static void kept_call_finish(struct kept_call *call)
{
    struct kept_container *container = call->container;
    struct execution_listener *listener = call->execution.listener;
    struct process_end end = kept_call_describe_end(call);

    container->call = NULL;
    if (container->state == KEPT_CONTAINER_IDLE)
        kept_container_expect(container, call);
    kept_call_free(call);
    if (container->state == KEPT_CONTAINER_OVER)
        kept_container_free(container);
    listener->ended(listener, &end);
}

static void kept_container_finish(struct kept_container *container)
{
    kept_container_set_state(container, KEPT_CONTAINER_OVER);
    if (container->call)
        kept_call_finish(container->call);
    else
        kept_container_free(container);
}

/* The script of a BUSY container has ended. */
static void kept_container_judge(struct kept_container *container)
{
    if (!container->call->words || !was_clean(container->call->words)) {
        log_info("container %s is not used again: %s", container->name,
                 container->call->never_began ? "no script can begin in it"
                                              : "the call did not leave it as it was");
        kept_container_set_state(container, KEPT_CONTAINER_ENDING);
        return;
    }
    kept_container_set_state(container, KEPT_CONTAINER_IDLE);
    kept_call_finish(container->call);
}

static void kept_call_on_complete(struct ev_loop *loop, ev_prepare *watcher, int events)
{
    struct kept_call *call = CONTAINER_OF(watcher, struct kept_call, complete);

    (void)loop;
    (void)events;
    if (call->container->state != KEPT_CONTAINER_BUSY)
        return;
    call->end = (struct container_end){.started = true};
    call->words = docker_output_end(&call->output);
    kept_container_judge(call->container);
}

/* True if the script, which has not begun, is tried once more in the same container. */
static bool kept_call_tries_again(struct kept_call *call)
{
    const enum kept_try next = kept_ask_next(&call->ask, &call->output);

    if (!call->never_began || call->container->state != KEPT_CONTAINER_BUSY ||
        next == KEPT_TRY_NONE)
        return false;
    call->container->is_deaf |= next == KEPT_TRY_PLAIN;
    call->never_began = false;
    kept_call_start_exec(call, next);
    return true;
}

static void kept_call_on_ended(struct exec *exec, const struct container_end *end)
{
    struct kept_call *call = CONTAINER_OF(exec, struct kept_call, exec);
    struct kept_container *container = call->container;

    call->never_began = kept_ask_never_began(&call->ask, &call->output, end);
    call->is_lost = kept_ask_is_lost(&call->ask, &call->output, end);
    if (kept_call_tries_again(call))
        return;
    call->end = *end;
    call->words = docker_output_end(&call->output);
    if (container->state == KEPT_CONTAINER_BUSY)
        kept_container_judge(container);
    else if (container->state == KEPT_CONTAINER_KILLING)
        kept_container_set_state(container, KEPT_CONTAINER_ENDING);
    else
        kept_container_finish(container);
}

static void kept_container_on_ended(struct container *ended, const struct container_end *end)
{
    struct kept_container *container = CONTAINER_OF(ended, struct kept_container, container);

    container->end = *end;
    if (end->status == DOCKER_NOT_FOUND)
        container->site->is_stale = true;
    if (container->state == KEPT_CONTAINER_BUSY || container->state == KEPT_CONTAINER_KILLING)
        kept_container_set_state(container, KEPT_CONTAINER_DRAINING);
    else
        kept_container_finish(container);
}

/* The init of the container passes the interrupt on to the init of the script. */
static void kept_call_interrupt(struct execution *execution)
{
    struct kept_call *call = CONTAINER_OF(execution, struct kept_call, execution);

    if (call->container->state == KEPT_CONTAINER_BUSY)
        container_interrupt(&call->container->container);
}

static void kept_call_kill(struct execution *execution)
{
    struct kept_call *call = CONTAINER_OF(execution, struct kept_call, execution);
    struct kept_container *container = call->container;

    call->killed = true;
    if (container->state == KEPT_CONTAINER_STARTING)
        kept_container_set_state(container, KEPT_CONTAINER_ENDING);
    else if (container->state == KEPT_CONTAINER_BUSY)
        kept_container_set_state(container, KEPT_CONTAINER_KILLING);
}

/* The next call gets a new container; a call that runs now is killed. */
static void kept_container_on_exceeded(struct kept_size *size)
{
    struct kept_container *container = CONTAINER_OF(size, struct kept_container, size);

    log_info("container %s is not used again: it has grown beyond the limit of disk",
             container->name);
    if (container->state == KEPT_CONTAINER_IDLE) {
        kept_container_free(container);
    } else if (container->state == KEPT_CONTAINER_BUSY) {
        container->call->out_of_disk = true;
        kept_call_kill(&container->call->execution);
    }
}

/* A call */

static struct kept_call *kept_call_new(struct kept_container *container,
                                       const struct docker_python_facts *python,
                                       const struct execution_request *request,
                                       struct execution_listener *listener)
{
    AUTO_FREE char *script = docker_site_script(request);
    struct kept_call *call = NEW(struct kept_call);

    call->execution = (struct execution){
        .listener = listener,
        .interrupt = kept_call_interrupt,
        .kill = kept_call_kill,
        .is_starting = container->state == KEPT_CONTAINER_STARTING,
    };
    call->container = container;
    call->exec.output = kept_call_on_output;
    call->exec.ended = kept_call_on_ended;
    ev_init(&call->complete, kept_call_on_complete);
    call->python = memory_copy_string(python->program);
    call->program = execution_command(python->program, script, request->arguments);
    call->variables = memory_copy_strings(request->variables);
    call->timeout = request->timeout;
    call->started_at = clock_seconds();
    return call;
}

/* Puts the code of REQUEST into the file that CONTAINER has over script.py. */
static int kept_container_take_code(const struct kept_container *container,
                                    const struct execution_request *request, struct docker_go *go,
                                    struct error *err)
{
    if (ftruncate(container->script, 0) < 0 || lseek(container->script, 0, SEEK_SET) < 0)
        return error_set_errno(err, errno, "cannot empty the script of the container");
    return docker_go_put(go, container->site, container->script, request->code,
                         request->code_length, err);
}

struct execution *kept_container_execute(struct kept_container *container,
                                         const struct docker_python_facts *python,
                                         const struct execution_request *request,
                                         struct execution_listener *listener, struct error *err)
{
    struct kept_ask ask = {0};

    assert(!container->call);
    if (kept_container_take_code(container, request, &ask.go, err) < 0) {
        if (container->state == KEPT_CONTAINER_STARTING)
            kept_container_free(container);
        return NULL;
    }
    container->call = kept_call_new(container, python, request, listener);
    container->call->ask = ask;
    if (container->state == KEPT_CONTAINER_IDLE)
        kept_container_begin_call(container);
    return &container->call->execution;
}

/* The container */

static void kept_container_on_started(struct container *started)
{
    struct kept_container *container = CONTAINER_OF(started, struct kept_container, container);
    struct execution_listener *listener;

    if (container->state != KEPT_CONTAINER_STARTING)
        return;
    kept_container_begin_call(container);
    listener = container->call->execution.listener;
    listener->began(listener);
}

void kept_container_start(struct kept_container *kept, const struct docker_facts *image,
                          const json_t *mounts)
{
    AUTO_FREE char *user = docker_site_user(kept->site);
    AUTO_JSON json_t *labels = docker_site_labels(kept->site, KEPT_CONTAINER_LIFE_SECONDS);
    AUTO_JSON json_t *definition = NULL;
    struct docker_container container = docker_site_container(kept->site, DOCKER_KEEP);

    container.image = image->id;
    container.volumes = image->volumes;
    container.user = user;
    container.seconds = KEPT_CONTAINER_LIFE_SECONDS;
    container.mounts = mounts;
    container.labels = labels;
    definition = docker_container_describe(&container);
    container_start(&kept->container, kept->site->engine,
                    &(struct container_plan){
                        .name = kept->name,
                        .definition = definition,
                        .start_timeout = kept->site->definition.container_startup_timeout,
                    });
}

struct kept_container *kept_container_new(struct docker_site *site,
                                          const struct execution_request *request,
                                          const uid_t *reader, struct error *err)
{
    int script = docker_script_file_new(request->code_file, "", 0, reader, err);
    struct kept_container *container;

    if (script < 0)
        return NULL;
    container = NEW(struct kept_container);
    list_init(&container->link);
    container->script = script;
    container->waits = true;
    container->site = site;
    container->container.started = kept_container_on_started;
    container->container.ended = kept_container_on_ended;
    container->name = docker_site_name(site);
    container->directory = memory_copy_string(request->directory);
    container->started_at = clock_seconds();
    container->size = (struct kept_size){.site = site,
                                         .limit = site->environment->settings.disk,
                                         .exceeded = kept_container_on_exceeded};
    return container;
}

bool kept_container_is_for(const struct kept_container *container, const char *directory)
{
    return container->state <= KEPT_CONTAINER_IDLE && strcmp(container->directory, directory) == 0;
}

bool kept_container_is_idle(const struct kept_container *container)
{
    return container->state == KEPT_CONTAINER_IDLE;
}

bool kept_container_lasts(const struct kept_container *container, double timeout)
{
    return clock_seconds() + timeout + DOCKER_GRACE_SECONDS <
           container->started_at + KEPT_CONTAINER_LIFE_SECONDS;
}
