#include "environments/docker/kept_container.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/state.h"
#include "base/untrusted.h"
#include "environments/docker/image.h"
#include "environments/docker/script_file.h"
#include "environments/docker/site.h"
#include "environments/docker/tree.h"
#include "environments/process/waiting.h"
#include "environments/run_variables.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEPT_CONTAINER_LIFE_SECONDS (7. * 86400) /* even if calls keep coming */
#define KEPT_GO_SECONDS             30.          /* for a go that is on its way */

enum { KEPT_STREAMS_MODE = 0755 };

/* One script in a kept container. */
struct kept_call {
    struct execution execution;
    struct docker_tree_owner owner;
    struct kept_container *container; /* borrowed */
    struct docker_tree *tree;         /* owned: the run of this STEP */
    enum kept_try step;
    struct docker_go go; /* for its script */
    bool out_of_disk;    /* killed for it */
    char *python;        /* owned: the program */
    char **program;      /* owned: what is executed */
    char **variables;    /* owned: its own; or NULL */
    int tools;           /* borrowed: a socket by which it calls tools; or 0 */
    double timeout;      /* seconds */
    double started_at;   /* monotonic seconds */
};

static const struct state kept_container_states[] = {
    [KEPT_CONTAINER_STARTING] = {"starting", 1 << KEPT_CONTAINER_BUSY | 1 << KEPT_CONTAINER_ENDING |
                                                 1 << KEPT_CONTAINER_OVER},
    [KEPT_CONTAINER_BUSY] = {"busy", 1 << KEPT_CONTAINER_IDLE | 1 << KEPT_CONTAINER_ENDING},
    [KEPT_CONTAINER_IDLE] = {"idle", 1 << KEPT_CONTAINER_BUSY | 1 << KEPT_CONTAINER_OVER},
    [KEPT_CONTAINER_ENDING] = {"ending", 1 << KEPT_CONTAINER_OVER},
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
    if (state == KEPT_CONTAINER_ENDING)
        container_kill(&container->container);
}

/* The trees that listen there have been freed: their sockets have gone. */
static void kept_container_remove_streams(struct kept_container *container)
{
    if (container->streams)
        (void)rmdir(container->streams);
    free(STEAL_PTR(container->streams));
}

void kept_container_free(struct kept_container *container)
{
    container_cancel(&container->container);
    kept_wait_stop(&container->wait);
    json_decref(container->next);
    kept_size_end(&container->size);
    list_remove(&container->link);
    kept_container_remove_streams(container);
    free(container->name);
    free(container->directory);
    json_decref(container->kept_files);
    close(container->script);
    free(container);
}

static void kept_call_free(struct kept_call *call)
{
    docker_tree_free(call->tree);
    docker_go_deinit(&call->go);
    free(call->python);
    memory_free_strings(call->program);
    memory_free_strings(call->variables);
    free(call);
}

static bool was_clean(const struct last_words *words)
{
    return words->flags == 0 && words->leftovers == 0;
}

static bool kept_call_has_enough(const struct docker_tree_owner *owner,
                                 const struct last_words *words)
{
    (void)owner;
    return words->failure == 0 && was_clean(words);
}

/* A call that begins */

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
    container.streams = call->container->streams ? DOCKER_STREAMS DOCKER_STREAMS_NAME : NULL;
    container.needs_tools = step == KEPT_TRY_PLAIN && docker_tree_needs_tools(call->tree);
    container.program = (const char *const *)call->program;
    container.variables = (const char *const *)call->variables;
    return docker_exec_describe(&container);
}

static struct docker_tree *kept_call_new_tree(struct kept_call *call)
{
    return docker_tree_new(call->container->site, &call->owner, call->execution.listener);
}

static struct kept_place kept_container_place(const struct kept_container *container)
{
    return (struct kept_place){
        .site = container->site,
        .container = container_id(&container->container),
        .streams = container->streams,
    };
}

/* Starts a new run for the call. */
static void kept_call_execute(struct kept_call *call, enum kept_try step)
{
    const struct kept_place place = kept_container_place(call->container);
    AUTO_JSON json_t *definition = NULL;

    call->step = step;
    docker_tree_give_tools(call->tree, call->tools);
    definition = kept_call_describe(call, step);
    if (step != KEPT_TRY_PLAIN)
        docker_tree_ask(call->tree, &call->go);
    kept_place_execute(&place, call->tree, definition, step != KEPT_TRY_PLAIN);
}

/* Takes the run that waits in the container. If the call needs another one, it is sent away. */
static void kept_call_take_wait(struct kept_call *call)
{
    struct kept_wait *wait = &call->container->wait;
    AUTO_JSON json_t *key = kept_call_describe(call, KEPT_TRY_WAITING);
    const bool is_for_it = json_equal(wait->key, key);

    call->step = KEPT_TRY_WAITING;
    docker_tree_free(call->tree);
    call->tree = kept_wait_take(wait);
    docker_tree_give(call->tree, &call->owner, call->execution.listener);
    if (is_for_it) {
        docker_tree_give_tools(call->tree, call->tools);
        docker_tree_ask(call->tree, &call->go);
    } else {
        docker_tree_dismiss(call->tree);
    }
}

static void kept_container_begin_call(struct kept_container *container)
{
    kept_container_set_state(container, KEPT_CONTAINER_BUSY);
    if (container->wait.tree)
        kept_call_take_wait(container->call);
    else
        kept_call_execute(container->call, container->is_deaf ? KEPT_TRY_PLAIN : KEPT_TRY_OWN);
}

void kept_container_rest(struct kept_container *container)
{
    const struct kept_place place = kept_container_place(container);

    if (container->state != KEPT_CONTAINER_IDLE || !container->next || container->wait.tree)
        return;
    kept_wait_start(&container->wait, &place, STEAL_PTR(container->next));
}

/* The end of a call */

/* How CONTAINER has ended. The caller frees it. */
static char *kept_container_tell_end(const struct kept_container *container)
{
    return container->end.status == DOCKER_NOT_FOUND
               ? memory_copy_string("the container was removed from outside")
               : memory_format("the container has ended (exit code %d)", container->end.exit_code);
}

/* REASON: why its run has ended. */
static void kept_call_explain(const struct kept_call *call, const char *reason,
                              struct process_end *end)
{
    const bool never_began = call->tree->fate == DOCKER_TREE_NEVER_BEGAN;

    if (call->tree->killed || call->tree->fate == DOCKER_TREE_HAS_RUN)
        return;
    end->vanished = never_began;
    snprintf(end->failure, sizeof end->failure,
             never_began ? "the script did not begin: %.400s" : "%s", reason);
}

static struct process_end kept_call_describe_end(struct kept_call *call)
{
    const struct kept_container *container = call->container;
    const char *failure = call->tree->end.failure; /* says more than the end of the container */
    AUTO_FREE char *reason =
        *failure ? memory_copy_string(failure) : kept_container_tell_end(container);
    struct process_end end;

    if (container->state == KEPT_CONTAINER_OVER)
        call->tree->end = container->end; /* it knows more */
    end = docker_tree_conclude(call->tree, call->started_at, call->python);
    end.out_of_disk |= call->out_of_disk;
    end.ahead_seconds = call->tree->output.has_begun ? call->tree->ahead_seconds : 0.;
    kept_call_explain(call, reason, &end);
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

/* Ends it when nothing is under way in it any more. */
static void kept_container_close(struct kept_container *container)
{
    if (container_id(&container->container) ||
        (container->call && container->call->tree->state != DOCKER_TREE_NONE))
        return;
    kept_container_set_state(container, KEPT_CONTAINER_OVER);
    if (container->call)
        kept_call_finish(container->call);
    else
        kept_container_free(container);
}

/* TREE has ended in a container that lives, without its script. */
static void kept_call_note_refusal(struct docker_tree *tree)
{
    if (!*tree->end.failure)
        snprintf(tree->end.failure, sizeof tree->end.failure,
                 "its first process ended before it (exit code %d)", tree->end.exit_code);
}

/* The script of a BUSY container has ended. */
static void kept_container_judge(struct kept_container *container)
{
    struct docker_tree *tree = container->call->tree;

    if (tree->fate == DOCKER_TREE_NEVER_BEGAN)
        kept_call_note_refusal(tree);
    if (!tree->output.has_words || !was_clean(&tree->output.words)) {
        log_info("container %s is not used again: %s", container->name,
                 tree->fate == DOCKER_TREE_NEVER_BEGAN ? tree->end.failure
                                                       : "the call did not leave it as it was");
        kept_container_set_state(container, KEPT_CONTAINER_ENDING);
        return;
    }
    kept_container_set_state(container, KEPT_CONTAINER_IDLE);
    kept_call_finish(container->call);
}

/* True if the script, which has not begun, is tried once more in the same container. */
static bool kept_call_tries_again(struct kept_call *call)
{
    const enum kept_try next = kept_try_next(call->step, call->tree);

    if (call->tree->fate != DOCKER_TREE_NEVER_BEGAN ||
        call->container->state != KEPT_CONTAINER_BUSY || next == KEPT_TRY_NONE)
        return false;
    call->container->is_deaf |= next == KEPT_TRY_PLAIN;
    docker_tree_free(call->tree);
    call->tree = kept_call_new_tree(call);
    kept_call_execute(call, next);
    return true;
}

static void kept_call_on_ended(struct docker_tree_owner *owner)
{
    struct kept_call *call = CONTAINER_OF(owner, struct kept_call, owner);

    if (kept_call_tries_again(call))
        return;
    if (call->container->state == KEPT_CONTAINER_BUSY)
        kept_container_judge(call->container);
    else
        kept_container_close(call->container);
}

static void kept_container_on_ended(struct container *ended, const struct container_end *end)
{
    struct kept_container *container = CONTAINER_OF(ended, struct kept_container, container);

    container->end = *end;
    if (end->status == DOCKER_NOT_FOUND)
        container->site->is_stale = true;
    if (container->state == KEPT_CONTAINER_BUSY)
        kept_container_set_state(container, KEPT_CONTAINER_ENDING);
    if (container->call && container->call->tree->state != DOCKER_TREE_NONE)
        docker_tree_drain(container->call->tree);
    kept_container_close(container);
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

    docker_tree_kill(call->tree);
    if (container->state == KEPT_CONTAINER_STARTING || container->state == KEPT_CONTAINER_BUSY)
        kept_container_set_state(container, KEPT_CONTAINER_ENDING);
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
    call->owner.has_enough = kept_call_has_enough;
    call->owner.ended = kept_call_on_ended;
    call->tree = kept_call_new_tree(call);
    call->python = memory_copy_string(python->program);
    call->program = execution_command(python->program, script, request);
    call->variables = memory_copy_strings(request->variables);
    call->tools = request->tools;
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
    struct docker_go go = {0};

    assert(!container->call);
    if (kept_container_take_code(container, request, &go, err) < 0) {
        if (container->state == KEPT_CONTAINER_STARTING)
            kept_container_free(container);
        return NULL;
    }
    container->call = kept_call_new(container, python, request, listener);
    container->call->go = go;
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

/* Makes the directory of its streams beside CODE_FILE, for a container of any user, and mounts it.
 * Others do not reach the folder of CODE_FILE. */
static void kept_container_make_streams(struct kept_container *container, const char *code_file)
{
    AUTO_FREE char *folder = memory_format("%s.streams", code_file);
    struct error err = ERROR_INIT;
    AUTO_CLOSE int directory = -1;

    if (docker_site_is_remote(container->site) || mkdir(folder, S_IRWXU) < 0)
        return;
    directory = untrusted_open_directory(AT_FDCWD, folder, &err);
    container->streams = STEAL_PTR(folder);
    if (directory < 0 || fchmod(directory, KEPT_STREAMS_MODE) < 0)
        kept_container_remove_streams(container);
}

/* New reference. */
static json_t *kept_container_mounts(const struct kept_container *container, const json_t *mounts)
{
    json_t *all = json_copy((json_t *)mounts);

    if (container->streams)
        json_array_append_new(all, docker_mount(container->streams, DOCKER_STREAMS, false));
    return all;
}

void kept_container_start(struct kept_container *kept, const struct docker_facts *image,
                          const json_t *mounts)
{
    AUTO_JSON json_t *all = kept_container_mounts(kept, mounts);
    AUTO_FREE char *user = docker_site_user(kept->site);
    AUTO_JSON json_t *labels = docker_site_labels(kept->site, KEPT_CONTAINER_LIFE_SECONDS);
    AUTO_JSON json_t *definition = NULL;
    struct docker_container container = docker_site_container(kept->site, DOCKER_KEEP);

    container.image = image->id;
    container.volumes = image->volumes;
    container.user = user;
    container.seconds = KEPT_CONTAINER_LIFE_SECONDS;
    container.mounts = all;
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
    kept_container_make_streams(container, request->code_file);
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
