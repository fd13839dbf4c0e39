#include "environments/process/tree_private.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/sender.h"
#include "environments/process/host_private.h"
#include "environments/process/python_stacks.h"
#include "environments/process/spawn.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    READ_BYTES = 64 * 1024,
    REST_BYTES = 1024 * 1024, /* more than a pipe holds, unless root has made it larger */
};

struct tree_wish tree_wish_of(const struct process_sandbox *sandbox)
{
    if (!sandbox)
        return (struct tree_wish){0};
    return (struct tree_wish){
        .sandbox = LAYERS_OF_SANDBOX & ~(sandbox->network * (unsigned)LAYER_NETWORK),
        .all = sandbox->required,
        .needed = (sandbox->outlet > 0 ? LAYER_NETWORK : 0U) | (sandbox->keeps ? LAYER_ROOT : 0U),
    };
}

/* Code is laid over a file in a mount namespace, which comes with the PID namespace. */
struct tree_wish tree_wish_of_command(const struct process_command *command)
{
    struct tree_wish wish = tree_wish_of(command->sandbox);

    if (command->script)
        wish.needed |= LAYER_PID_NAMESPACE;
    return wish;
}

static void close_watched(struct tree *tree, ev_io *watcher, int *fd)
{
    ev_io_stop(host_loop(tree->host), watcher);
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void tree_interrupt(struct tree *tree)
{
    if (tree->state > TREE_RUNNING)
        return;
    if (tree->started <= 0) { /* there is no program yet */
        tree->is_to_be_interrupted = tree->has_input;
        return;
    }
    if (!tree->has_input) /* sessions outlive interrupts: no stacks are wanted */
        (void)channel_tell(&tree->channel, CONTROL_STACKS, NULL, 0);
    (void)channel_tell(&tree->channel, CONTROL_INTERRUPT, NULL, 0);
}

void tree_fail(struct tree *tree, const char *text)
{
    log_debug("tree %lu: %s", tree->number, text);
    if (!tree->end.failure[0]) /* later errors follow from the first */
        snprintf(tree->end.failure, sizeof tree->end.failure, "%s", text);
    tree_begin_end(tree);
}

static void tree_close_descriptors(struct tree *tree)
{
    if (tree->code >= 0)
        close(STEAL_FD(tree->code));
    if (tree->input >= 0)
        close(STEAL_FD(tree->input));
    if (tree->tools >= 0)
        close(STEAL_FD(tree->tools));
    if (tree->outlet >= 0)
        close(STEAL_FD(tree->outlet));
}

static void send_job(struct tree *tree)
{
    int descriptors[CONTROL_DESCRIPTORS];
    size_t count = 0;

    if (tree->code >= 0)
        descriptors[count++] = tree->code;
    if (tree->input >= 0)
        descriptors[count++] = tree->input;
    if (tree->tools >= 0)
        descriptors[count++] = tree->tools;
    if (tree->outlet >= 0)
        descriptors[count++] = tree->outlet;
    if (!channel_send(&tree->channel, &tree->job, descriptors, count)) {
        tree_fail(tree, "cannot reach the runner");
        return;
    }
    tree_set_state(tree, TREE_RUNNING);
}

/* The job is kept until the program runs, because another tree may have to run it. */
static void tree_drop_job(struct tree *tree)
{
    buffer_deinit(&tree->job);
    tree_close_descriptors(tree);
}

/* Reaps the child with PIDFD, if it has ended. A child that was reaped without us (our parent left
 * SIGCHLD ignored) has ended as well, with an unknown status. */
bool tree_reap(int pidfd, siginfo_t *ret)
{
    *ret = (siginfo_t){0};
    if (waitid(P_PIDFD, (id_t)pidfd, ret, WEXITED | WNOHANG) < 0)
        return errno == ECHILD;
    return ret->si_pid != 0;
}

void tree_lose_sight(struct tree *tree)
{
    tree_fail(tree, "the server could not follow the run to its end");
    ev_timer_again(host_loop(tree->host), &tree->polling);
}

static void tree_reap_supervisor(struct tree *tree)
{
    siginfo_t information;

    if (tree->supervisor < 0 || !tree_reap(tree->supervisor, &information))
        return;
    close_watched(tree, &tree->supervisor_watcher, &tree->supervisor);
    tree->supervisor_reaped = true;
    /* Without these layers the supervisor alone kills the tree; its exit status says whether it
     * could. */
    if (!(tree->layers & (LAYER_PID_NAMESPACE | LAYER_CGROUP_KILL)) &&
        (information.si_code != CLD_EXITED || information.si_status != 0))
        tree->end.survivors = true;
}

static void tree_on_supervisor(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct tree *tree = CONTAINER_OF(watcher, struct tree, supervisor_watcher);

    (void)loop;
    if (events & EV_ERROR)
        tree_lose_sight(tree);
    tree_reap_supervisor(tree);
    tree_advance(tree);
}

/* Writes the limits into JOB: those that programs read, and those that the cgroup does not have. */
static void tree_write_limits(const struct tree *tree, struct buffer *job)
{
    const struct cgroup_tree *cgroups = tree->leaf ? cgroup_leaf_tree(tree->leaf) : NULL;
    char *place = buffer_bytes(job) + WIRE_HEAD_BYTES;
    struct control_run run;

    memcpy(&run, place, sizeof run);
    run.shared_bytes = tree->limits.memory;
    run.most_processes = tree->limits.processes;
    run.cpu_quota = (uint32_t)(process_host_cpus(tree->host) * CONTROL_CPU_PERIOD);
    run.limits = tree->limits;
    if (cgroups && cgroup_tree_limits_memory(cgroups))
        run.limits.memory = 0;
    if (cgroups && cgroup_tree_limits_processes(cgroups))
        run.limits.processes = 0;
    memcpy(place, &run, sizeof run);
}

/* Makes the CONTROL_RUN of the expected process, without code. */
int tree_make_ahead(const struct tree *tree, struct buffer *job, struct error *err)
{
    const struct buffer *expected = &tree->forecast->job;
    char *place;
    struct control_run run;

    if (buffer_append(job, buffer_bytes(expected), buffer_length(expected), err) < 0)
        return -1;
    tree_write_limits(tree, job);
    place = buffer_bytes(job) + WIRE_HEAD_BYTES;
    memcpy(&run, place, sizeof run);
    run.is_ahead = true;
    run.is_zygote = tree->nursery != NULL;
    memcpy(place, &run, sizeof run);
    return 0;
}

static void tree_send_ahead(struct tree *tree)
{
    struct error err = ERROR_INIT;
    struct buffer job;
    bool was_sent;

    buffer_init(&job, CONTROL_LIMIT_BYTES);
    was_sent =
        tree_make_ahead(tree, &job, &err) == 0 && channel_send(&tree->channel, &job, NULL, 0);
    buffer_deinit(&job);
    if (was_sent)
        tree_set_state(tree, TREE_STARTING);
    else
        tree_fail(tree, "cannot reach the runner");
}

/* The runner is in the cgroup until it is reaped, and would count as a process of the program, so
 * that the program itself might find no place. */
static void tree_become_ready(struct tree *tree)
{
    if (tree->state != TREE_PREPARING || !tree->is_prepared || tree->runner >= 0)
        return;
    if (tree->role)
        tree->role->ready(tree);
    else if (tree->is_ahead)
        tree_send_ahead(tree);
    else if (buffer_length(&tree->job) > 0)
        send_job(tree);
    else
        tree_set_state(tree, TREE_READY);
}

static void tree_reap_runner(struct tree *tree)
{
    siginfo_t ignored;

    if (tree->runner < 0 || !tree_reap(tree->runner, &ignored))
        return;
    close_watched(tree, &tree->runner_watcher, &tree->runner);
    tree_become_ready(tree);
}

static void tree_on_runner(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct tree *tree = CONTAINER_OF(watcher, struct tree, runner_watcher);

    (void)loop;
    if (events & EV_ERROR)
        tree_lose_sight(tree);
    tree_reap_runner(tree);
    tree_advance(tree);
}

static void close_channel(struct tree *tree)
{
    ev_io_stop(host_loop(tree->host), &tree->channel_watcher);
    channel_deinit(&tree->channel);
}

static void tree_read_channel(struct tree *tree)
{
    if (tree->channel.fd >= 0 && channel_read(&tree->channel) == CHANNEL_ENDED) {
        close_channel(tree);
        tree_begin_end(tree);
    }
}

static void tree_on_channel(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct tree *tree = CONTAINER_OF(watcher, struct tree, channel_watcher);

    (void)loop;
    if (events & EV_ERROR)
        tree_lose_sight(tree);
    tree_read_channel(tree);
    tree_advance(tree);
}

void tree_look(struct tree *tree)
{
    tree_read_channel(tree);
    tree_reap_runner(tree);
    tree_reap_supervisor(tree);
    tree_advance(tree);
}

static void tree_close_stream(struct tree *tree, enum process_stream stream)
{
    close_watched(tree, &tree->stream_watchers[stream], &tree->streams[stream]);
}

static void tree_lose_stream(struct tree *tree, enum process_stream stream)
{
    tree_close_stream(tree, stream);
    tree_fail(tree, "the server could not read the output to its end");
}

/* Reads once; false when there is nothing more now. */
static bool tree_read_stream(struct tree *tree, enum process_stream stream)
{
    char bytes[READ_BYTES];
    ssize_t count = read(tree->streams[stream], bytes, sizeof bytes);

    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (count < 0)
        tree_lose_stream(tree, stream);
    else if (count == 0)
        tree_close_stream(tree, stream);
    else if (tree->process)
        tree->process->output(tree->process, stream, bytes, (size_t)count);
    return tree->streams[stream] >= 0;
}

void tree_hold(struct tree *tree, bool is_held)
{
    struct ev_loop *loop = host_loop(tree->host);

    if (tree->state >= TREE_EMPTYING || !tree->process)
        return;
    for (int i = 0; i < PROCESS_STREAMS; i++)
        if (is_held)
            ev_io_stop(loop, &tree->stream_watchers[i]);
        else if (tree->streams[i] >= 0)
            ev_io_start(loop, &tree->stream_watchers[i]);
}

void tree_read_rest(struct tree *tree)
{
    for (int stream = 0; stream < PROCESS_STREAMS; stream++)
        for (size_t length = 0; length < REST_BYTES && tree->streams[stream] >= 0;
             length += READ_BYTES)
            if (!tree_read_stream(tree, (enum process_stream)stream))
                break;
}

static void tree_on_stream(struct tree *tree, enum process_stream stream, int events)
{
    if (events & EV_ERROR)
        tree_lose_stream(tree, stream);
    else
        (void)tree_read_stream(tree, stream);
    tree_advance(tree);
}

static void tree_on_stdout(struct ev_loop *loop, ev_io *watcher, int events)
{
    (void)loop;
    tree_on_stream(CONTAINER_OF(watcher, struct tree, stream_watchers[PROCESS_STDOUT]),
                   PROCESS_STDOUT, events);
}

static void tree_on_stderr(struct ev_loop *loop, ev_io *watcher, int events)
{
    (void)loop;
    tree_on_stream(CONTAINER_OF(watcher, struct tree, stream_watchers[PROCESS_STDERR]),
                   PROCESS_STDERR, events);
}

/* Messages of the runner and the supervisor */

static void tree_send_code(struct tree *tree)
{
    int descriptors[2];
    size_t count = 0;

    if (tree->code >= 0)
        descriptors[count++] = tree->code;
    if (tree->input >= 0)
        descriptors[count++] = tree->input;
    if ((tree->tools < 0 || channel_tell(&tree->channel, CONTROL_TOOLS, &tree->tools, 1)) &&
        channel_tell(&tree->channel, CONTROL_CODE, descriptors, count))
        tree_set_state(tree, TREE_RUNNING);
    else
        tree_fail(tree, "cannot reach the runner");
}

void tree_count_ahead(struct tree *tree)
{
    tree->end.ahead_seconds += clock_seconds() - tree->begun;
}

static void tree_on_waiting(struct tree *tree, const struct control_waiting *waiting)
{
    struct error ignored = ERROR_INIT; /* then the program can have one process less */

    if (tree->state != TREE_STARTING)
        return;
    tree->keepers = waiting->keepers > 0;
    if (tree->keepers)
        (void)tree_limit(tree, &tree->limits, &ignored);
    if (!tree->process)
        tree_count_ahead(tree);
    tree_set_state(tree, TREE_WAITING);
    if (tree->role && tree->role->waits)
        tree->role->waits(tree);
    if (tree->process)
        tree_send_code(tree);
}

/* Messages of a doubted tree count only for its own end: about the machine, and other processes,
 * they could lie. */
static bool tree_is_doubted(const struct tree *tree)
{
    return tree->role && tree->role->is_doubted;
}

static void tree_on_supervisor_known(struct tree *tree, const char *payload)
{
    struct control_supervisor supervisor;

    if (tree->supervisor >= 0)
        return;
    memcpy(&supervisor, payload, sizeof supervisor);
    tree->supervisor_pid = tree_is_doubted(tree) ? tree->channel.sender : supervisor.pid;
    tree->supervisor = spawn_open_child(tree->supervisor_pid);
    if (tree->supervisor < 0) {
        tree_lose_sight(tree);
        return;
    }
    ev_io_set(&tree->supervisor_watcher, tree->supervisor, EV_READ);
    ev_io_start(host_loop(tree->host), &tree->supervisor_watcher);
    if (supervisor.zygote && tree->role)
        tree->role->zygote(tree, supervisor.zygote);
    if (tree->state >= TREE_EMPTYING)
        tree_kill_hard(tree); /* the end began without the supervisor, which has no program yet */
}

static void tree_on_ready(struct tree *tree, const char *missing)
{
    if (tree->state != TREE_PREPARING)
        return;
    if (*missing && !tree_is_doubted(tree))
        process_receipt_add_missing(tree->missing, missing);
    host_note_ready(tree->host, tree);
    tree->is_prepared = true;
    tree_become_ready(tree);
}

static bool tree_may_be_replaced(const struct tree *tree)
{
    return tree->state < TREE_RUNNING || (tree->state == TREE_RUNNING && tree->started <= 0);
}

static void tree_refused(struct tree *tree, const struct control_refused *refused, const char *text)
{
    struct error err = ERROR_INIT;

    if (tree_may_be_replaced(tree) && !tree_is_doubted(tree) &&
        host_learn(tree->host, tree, (enum control_need)refused->need, refused->number, text))
        host_retry(tree->host, tree);
    tree->end.refused = tree->started <= 0;
    tree_fail(tree, host_refuses(tree->host, &tree->wish, &err) ? err.message : text);
}

static void tree_on_refused(struct tree *tree, const char *payload, size_t length)
{
    struct control_refused refused;
    AUTO_FREE char *text = NULL;

    memcpy(&refused, payload, sizeof refused);
    if (refused.need >= NEEDS)
        return;
    text = memory_format("%.*s", (int)(length - sizeof refused), payload + sizeof refused);
    tree_refused(tree, &refused, text);
}

static void tree_on_started(struct tree *tree, const char *payload)
{
    struct control_started started;

    memcpy(&started, payload, sizeof started);
    tree->started = started.time;
    tree_drop_job(tree);
    host_note_started(tree->host, tree);
    tree->end.start_seconds = started.time - tree->submitted;
    if (tree->is_to_be_interrupted)
        tree_interrupt(tree);
}

static void tree_on_ended(struct tree *tree, const char *payload)
{
    struct control_ended ended;

    memcpy(&ended, payload, sizeof ended);
    tree->end.reported = true;
    tree->is_empty = ended.is_empty;
    tree->end.returncode = process_returncode(ended.status);
    tree->end.cpu_seconds = ended.cpu_seconds;
    tree->end.peak_memory = ended.peak_bytes;
    tree->end.out_of_disk = ended.exceeded == CONTROL_EXCEEDED_DISK;
    tree->end.leftovers = ended.leftovers;
    tree->end.out_of_memory = ended.exceeded == CONTROL_EXCEEDED_MEMORY;
    if (tree->started > 0)
        tree->end.run_seconds = ended.time - tree->started;
    tree_begin_end(tree);
}

/* Keeps the stacks of the first interrupt. */
static void tree_on_stacks(struct tree *tree, const char *text, size_t length)
{
    if (!tree->end.stacks)
        tree->end.stacks = python_stacks_read(text, length);
}

/* Keeps the names of files that are gone with the tree, and how many these are. */
static void tree_on_left(struct tree *tree, const char *payload, size_t length)
{
    json_t *names = json_array();
    uint32_t count;

    memcpy(&count, payload, sizeof count);
    for (size_t at = sizeof count; at < length;) {
        const size_t bytes = strnlen(payload + at, length - at);

        json_array_append_new(names, json_string_repaired(payload + at, bytes));
        at += bytes + 1;
    }
    json_decref(tree->end.left_files);
    tree->end.left_files = json_pack("{s:I, s:o}", "count", (json_int_t)count, "names", names);
}

/* A runner is trusted: the program cannot reach the control channel. */
static void tree_on_message(struct channel *channel, enum control_type type, const char *payload,
                            size_t length)
{
    struct tree *tree = CONTAINER_OF(channel, struct tree, channel);
    AUTO_FREE char *text = memory_format("%.*s", (int)length, payload);

    switch (type) {
    case CONTROL_RUN:
    case CONTROL_CODE:
    case CONTROL_TOOLS:
    case CONTROL_COPY:
    case CONTROL_INTERRUPT:
    case CONTROL_TYPES:
        break; /* only we send these */
    case CONTROL_SUPERVISOR:
        tree_on_supervisor_known(tree, payload);
        break;
    case CONTROL_READY:
        tree_on_ready(tree, text);
        break;
    case CONTROL_REFUSED:
        tree_on_refused(tree, payload, length);
        break;
    case CONTROL_FAILED:
        tree_fail(tree, text);
        break;
    case CONTROL_WAITING:
        tree_on_waiting(tree, (const struct control_waiting *)payload);
        break;
    case CONTROL_STACKS:
        tree_on_stacks(tree, payload, length);
        break;
    case CONTROL_STARTED:
        tree_on_started(tree, payload);
        break;
    case CONTROL_LEFT:
        tree_on_left(tree, payload, length);
        break;
    case CONTROL_ENDED:
        tree_on_ended(tree, payload);
        break;
    }
}

/* The start */

static void tree_watch(struct tree *tree, const struct spawned *spawned)
{
    struct ev_loop *loop = host_loop(tree->host);

    tree->channel.message = tree_on_message;
    channel_init(&tree->channel, spawned->control);
    tree->runner = spawned->pidfd;
    tree->supervisor = -1;
    ev_io_init(&tree->channel_watcher, tree_on_channel, spawned->control, EV_READ);
    ev_io_start(loop, &tree->channel_watcher);
    ev_io_init(&tree->runner_watcher, tree_on_runner, tree->runner, EV_READ);
    if (tree->runner >= 0)
        ev_io_start(loop, &tree->runner_watcher);
    ev_io_init(&tree->supervisor_watcher, tree_on_supervisor, -1, EV_READ);
    for (int i = 0; i < PROCESS_STREAMS; i++) {
        tree->streams[i] = spawned->streams[i];
        ev_io_init(&tree->stream_watchers[i], i == PROCESS_STDOUT ? tree_on_stdout : tree_on_stderr,
                   tree->streams[i], EV_READ);
    }
    tree_init_timers(tree);
}

int tree_spawn(struct tree *tree, struct cgroup_tree *cgroups, struct spawned *ret,
               struct error *err)
{
    AUTO_FREE char **arguments = NULL;
    char layers[16];
    size_t count = 0;

    if (cgroups) {
        tree->leaf = cgroup_leaf_new(cgroups, err);
        if (!tree->leaf)
            return -1;
        while (cgroup_leaf_directories(tree->leaf)[count])
            count++;
    }
    arguments = memory_new(count + 3, sizeof *arguments);
    snprintf(layers, sizeof layers, "%u", tree->layers | (tree->role ? tree->role->layers : 0));
    arguments[0] = (char *)"pyexecd-runner"; /* only read */
    arguments[1] = layers;
    for (size_t i = 0; i < count; i++)
        arguments[2 + i] = cgroup_leaf_directories(tree->leaf)[i];
    return spawn_runner(ret, host_runner(tree->host), arguments, err);
}

struct tree *tree_make(struct process_host *host, const struct tree_plan *plan)
{
    struct tree *tree = NEW(struct tree);

    tree->host = host;
    tree->code = -1;
    tree->input = -1;
    tree->tools = -1;
    tree->outlet = -1;
    tree->zygote = -1;
    tree->wish = plan->wish;
    tree->layers = plan->layers;
    tree->missing = machine_missing(host_machine(host), plan);
    tree->end.receipt = tree_plan_receipt(plan, tree->missing);
    tree->end.returncode = -SIGKILL;
    buffer_init(&tree->job, CONTROL_LIMIT_BYTES);
    waiting_init(&tree->waiting);
    list_init(&tree->sibling);
    return tree;
}

void tree_unmake(struct tree *tree)
{
    json_decref(tree->missing);
    cgroup_leaf_free(tree->leaf);
    free(tree);
}

void tree_begin(struct tree *tree, const struct spawned *spawned)
{
    tree_watch(tree, spawned);
    tree->begun = clock_seconds();
    tree->number = host_add(tree->host, tree);
}

struct tree *tree_new(struct process_host *host, const struct tree_plan *plan, struct error *err)
{
    struct tree *tree = tree_make(host, plan);
    struct spawned spawned;

    if (tree_spawn(tree, plan->cgroups, &spawned, err) < 0) {
        tree_unmake(tree);
        return NULL;
    }
    tree_begin(tree, &spawned);
    return tree;
}

/* The leaf may be used again if all processes were in a PID namespace, which has ended: its
 * supervisor is reaped after all of them. */
static void tree_leave_leaf(struct tree *tree)
{
    if (tree->leaf && tree->layers & LAYER_PID_NAMESPACE && tree->supervisor_reaped &&
        !tree->is_copy && !tree->end.survivors && !host_is_stopping(tree->host))
        cgroup_leaf_rest(tree->leaf);
    else
        cgroup_leaf_free(tree->leaf);
}

void tree_free(struct tree *tree)
{
    struct ev_loop *loop = host_loop(tree->host);

    close_channel(tree);
    close_watched(tree, &tree->runner_watcher, &tree->runner);
    close_watched(tree, &tree->supervisor_watcher, &tree->supervisor);
    for (int i = 0; i < PROCESS_STREAMS; i++)
        close_watched(tree, &tree->stream_watchers[i], &tree->streams[i]);
    ev_timer_stop(loop, &tree->bound);
    ev_timer_stop(loop, &tree->polling);
    if (tree->role)
        tree->role->leave(tree);
    tree_leave_leaf(tree);
    json_decref(tree->end.stacks);
    json_decref(tree->end.left_files);
    json_decref(tree->missing);
    buffer_deinit(&tree->job);
    tree_close_descriptors(tree);
    forecast_drop(tree->forecast);
    list_remove(&tree->link);
    free(tree);
}

int tree_limit(struct tree *tree, const struct process_limits *limits, struct error *err)
{
    tree->limits = *limits;
    if (!tree->leaf)
        return 0;
    /* The supervisor is in the leaf as well. */
    return cgroup_leaf_limit(tree->leaf, limits->memory, limits->processes + 1 + tree->keepers,
                             err);
}

/* From now on TREE belongs to PROCESS. JOB (taken, or NULL) is kept, also for another tree. */
static void tree_attach(struct tree *tree, struct process *process, struct buffer *job)
{
    tree->process = process;
    process->tree = tree;
    if (job) {
        tree->job = *job;
        *job = (struct buffer){.limit = job->limit};
    }
    tree->submitted = clock_seconds();
    for (int i = 0; i < PROCESS_STREAMS; i++)
        ev_io_start(host_loop(tree->host), &tree->stream_watchers[i]);
}

int tree_run(struct tree *tree, struct process *process, struct buffer *job,
             const struct process_limits *limits, struct error *err)
{
    if (tree_limit(tree, limits, err) < 0)
        return -1;
    tree_write_limits(tree, job);
    tree_attach(tree, process, job);
    if (tree->state == TREE_READY)
        send_job(tree);
    return 0;
}

int tree_start_ahead(struct tree *tree, struct forecast *forecast, struct error *err)
{
    if (tree_limit(tree, &forecast->limits, err) < 0)
        return -1;
    tree->is_ahead = true;
    tree->begun = clock_seconds();
    tree->forecast = forecast_hold(forecast);
    if (tree->state == TREE_READY)
        tree_send_ahead(tree);
    return 0;
}

void tree_complete(struct tree *tree, struct process *process, struct buffer *job)
{
    if (tree->state < TREE_WAITING)
        tree_count_ahead(tree);
    tree_attach(tree, process, job);
    if (tree->state == TREE_WAITING)
        tree_send_code(tree);
}

/* Copies: the tree of a copy that the program of another tree makes of itself (runner/copies.c). It
 * has no runner and no supervisor of its own: the supervisor of the other tree reports its end, and
 * the kernel kills all processes in its cgroup. It ends with the other tree at the latest. */

/* Fails if ORIGIN has died meanwhile, which is reported soon. */
static int tree_check_origin(const struct tree *origin, struct error *err)
{
    if (!origin || origin->state != TREE_RUNNING)
        return error_set(err, ERROR_UNAVAILABLE, "there is no Python to copy");
    if (origin->leaf && origin->layers & LAYER_CGROUP_KILL)
        return 0;
    return error_set(err, ERROR_UNAVAILABLE,
                     "this machine gives a copy no cgroup (v2) of its own, without which its end "
                     "could not be ensured");
}

/* The kernel names the sender of each message from the gate of the copy. */
static int tree_make_gate(int *ret_program, int *ret_supervisor, struct error *err)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return error_set_errno(err, errno, "socketpair");
    *ret_program = ends[0];
    *ret_supervisor = ends[1];
    if (sender_ask(ends[1]) < 0)
        return error_set_errno(err, errno, "SO_PASSCRED");
    return 0;
}

/* Tells the supervisor of ORIGIN that TREE is about to come. */
static int tree_announce_copy(const struct tree *tree, struct tree *origin, int control, int gate,
                              struct error *err)
{
    int descriptors[CONTROL_DESCRIPTORS] = {
        [CONTROL_COPY_CHANNEL] = control, [CONTROL_COPY_GATE] = gate};
    const size_t cgroups = cgroup_leaf_procs(tree->leaf, descriptors + CONTROL_COPY_CGROUPS,
                                             CONTROL_DESCRIPTORS - CONTROL_COPY_CGROUPS);

    if (!channel_tell(&origin->channel, CONTROL_COPY, descriptors, CONTROL_COPY_CGROUPS + cgroups))
        return error_set(err, ERROR_SYSTEM, "cannot reach the runner of the session");
    return 0;
}

void process_copy_ends_close(struct process_copy_ends *ends)
{
    for (int i = 0; i < PROCESS_STREAMS; i++)
        if (ends->streams[i] >= 0)
            close(STEAL_FD(ends->streams[i]));
    if (ends->gate >= 0)
        close(STEAL_FD(ends->gate));
}

static int tree_prepare_copy(struct tree *tree, struct tree *origin, struct spawned *spawned,
                             struct process_copy_ends *ret, struct error *err)
{
    AUTO_CLOSE int gate = -1;
    struct spawn_ends theirs;
    int announced;

    tree->leaf = cgroup_leaf_new(cgroup_leaf_tree(origin->leaf), err);
    if (!tree->leaf || tree_limit(tree, &origin->limits, err) < 0 ||
        tree_make_gate(&ret->gate, &gate, err) < 0 || spawn_make_ends(spawned, &theirs, err) < 0)
        return -1;
    spawn_give_output(spawned, spawn_user_of(origin->streams[PROCESS_STDOUT]));
    announced = tree_announce_copy(tree, origin, theirs.control, gate, err);
    if (announced < 0) {
        spawn_close(spawned, &theirs);
        return -1;
    }
    close(theirs.control);
    for (int i = 0; i < PROCESS_STREAMS; i++)
        ret->streams[i] = theirs.streams[i];
    return 0;
}

/* The copy has the layers of ORIGIN, except LAYER_PID_NAMESPACE: it ends by its cgroup. */
static struct tree *tree_make_copy(const struct tree *origin)
{
    const struct tree_plan plan = {
        .wish = origin->wish,
        .layers = origin->layers,
        .cgroups = cgroup_leaf_tree(origin->leaf),
    };
    struct tree *tree = tree_make(origin->host, &plan);

    tree->layers &= ~(unsigned)LAYER_PID_NAMESPACE;
    tree->is_copy = true;
    tree->has_input = true;
    return tree;
}

int process_start_copy(struct process *process, struct process *copy, struct process_copy_ends *ret,
                       struct error *err)
{
    struct tree *origin = process->tree;
    struct spawned spawned;
    struct tree *tree;

    assert(copy->output && copy->ended);
    *ret = (struct process_copy_ends){.streams = {-1, -1}, .gate = -1};
    if (tree_check_origin(origin, err) < 0)
        return -1;
    tree = tree_make_copy(origin);
    if (tree_prepare_copy(tree, origin, &spawned, ret, err) < 0) {
        process_copy_ends_close(ret);
        tree_unmake(tree);
        return -1;
    }
    tree_begin(tree, &spawned);
    tree_attach(tree, copy, NULL);
    tree_set_state(tree, TREE_RUNNING);
    return 0;
}
