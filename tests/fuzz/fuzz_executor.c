/* Input: steps, a byte each, with bytes that say of what: a call, a session, a copy of one, code
 * blocks, a cancel, a reload, a close, and what preparations and scripts do meanwhile.
 *
 * They go to a real executor and real sessions, which share one directory. The environments are
 * doubles: their preparations and scripts do nothing, and end when the input says so. Whatever the
 * order is, each call ends once, none after it was cancelled or from inside its own beginning; when
 * everything may end, everything does; and at the end nothing is left over. */
#undef NDEBUG
#include "base/list.h"
#include "base/memory.h"
#include "environments/catalog/retirement.h"
#include "environments/executor.h"
#include "environments/notebook/notebooks.h"
#include "environments/workplace/directory_removal.h"

#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    ENVIRONMENTS = 3,
    CLIENTS = 3,
    MOST_CALLS = 40,
    MOST_STEPS = 200,
    MOST_SESSIONS = 5,
    TURNS = 20000, /* more than any input needs */
    GIVEN = 4,     /* descriptors that a copy is given */
    SENT_BYTES = 4096,
};

#define LONG_SECONDS 1000. /* the input is over before that */

struct world {
    const uint8_t *data;
    size_t size;
    struct ev_loop *loop;
    struct executor *executor;
    struct notebooks *notebooks;
    struct workplace *workplace;
    struct working_directory *directory;
    struct retirement retirement;
    struct environment *environments[ENVIRONMENTS];
    struct executor_client clients[CLIENTS];
    struct list executions; /* of struct double_execution */
    struct list doubles;    /* of struct double_environment: those that are retired, too */
    struct call *calls[MOST_CALLS];
    unsigned count;
};

/* A run, a cell, or code blocks, which are one run after the other. */
struct call {
    struct world *world;
    struct run *run;
    struct cell *cell;
    struct environment *environment; /* held, of code blocks */
    unsigned client;
    unsigned blocks; /* that are still to be run */
    bool is_begun;
    bool is_cancelled;
    bool is_over;
};

static uint8_t next_byte(struct world *world)
{
    if (world->size == 0)
        return 0;
    world->size--;
    return *world->data++;
}

static void turn(struct world *world)
{
    ev_run(world->loop, EVRUN_NOWAIT);
}

/* Executions that execute nothing */

struct double_execution {
    struct execution execution;
    struct list link;
    struct world *world;
    struct double_execution *copied; /* the copy that it was told to make, and has not read of */
    int channel;                     /* the other end of a session's socket, or -1 */
    ev_timer ending;
    struct process_end end;
    bool is_ending;
};

static struct double_execution *double_of(struct execution *execution)
{
    return CONTAINER_OF(execution, struct double_execution, execution);
}

static void double_end(struct double_execution *subject, int returncode)
{
    if (subject->is_ending)
        return;
    subject->is_ending = true;
    subject->end.returncode = returncode;
    ev_timer_start(subject->world->loop, &subject->ending);
}

static void double_hang_up(struct double_execution *subject)
{
    if (subject->channel >= 0)
        close(subject->channel);
    subject->channel = -1;
}

static void double_on_ending(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct double_execution *subject = CONTAINER_OF(timer, struct double_execution, ending);
    struct execution_listener *listener = subject->execution.listener;
    const struct process_end end = subject->end;

    (void)loop;
    (void)events;
    LIST_FOR_EACH (&subject->world->executions, link) {
        struct double_execution *other = CONTAINER_OF(link, struct double_execution, link);

        if (other->copied == subject)
            other->copied = NULL;
    }
    list_remove(&subject->link);
    double_hang_up(subject);
    free(subject);
    listener->ended(listener, &end);
}

static void double_interrupt(struct execution *execution)
{
    (void)execution; /* it ends when the input says so, if it does */
}

static void double_drain(struct execution *execution)
{
    execution->listener->output(execution->listener, PROCESS_STDOUT, "late", 4);
}

static struct process_usage double_measure(struct execution *execution)
{
    (void)execution;
    return (struct process_usage){0};
}

static void double_kill(struct execution *execution)
{
    double_end(double_of(execution), -SIGKILL);
}

static struct execution *double_copy(struct execution *execution,
                                     struct execution_listener *listener,
                                     struct process_copy_ends *ret, struct error *err);

static struct double_execution *double_new(struct world *world, struct execution_listener *listener)
{
    struct double_execution *subject = NEW(struct double_execution);

    subject->world = world;
    subject->channel = -1;
    subject->execution = (struct execution){.listener = listener,
                                            .interrupt = double_interrupt,
                                            .drain = double_drain,
                                            .measure = double_measure,
                                            .kill = double_kill};
    ev_timer_init(&subject->ending, double_on_ending, 0., 0.);
    list_append(&world->executions, &subject->link);
    return subject;
}

static struct execution *double_copy(struct execution *execution,
                                     struct execution_listener *listener,
                                     struct process_copy_ends *ret, struct error *err)
{
    struct double_execution *origin = double_of(execution);
    struct double_execution *copy;

    if (origin->is_ending || next_byte(origin->world) % 8 == 1) {
        error_set(err, ERROR_UNAVAILABLE, "no copy");
        return NULL;
    }
    copy = double_new(origin->world, listener);
    copy->execution.copy = double_copy;
    origin->copied = copy;
    for (int i = 0; i < PROCESS_STREAMS; i++)
        ret->streams[i] = open("/dev/null", O_RDWR | O_CLOEXEC);
    ret->gate = open("/dev/null", O_RDWR | O_CLOEXEC);
    return &copy->execution;
}

/* The descriptors of a copy that has gone are closed. */
static void double_give(struct double_execution *subject, const int given[GIVEN])
{
    struct double_execution *copy = subject->copied;

    subject->copied = NULL;
    if (copy && copy->channel < 0)
        copy->channel = dup(given[0]);
    for (int i = 0; i < GIVEN; i++)
        close(given[i]);
}

/* Reads what was sent to it. */
static void double_read(struct double_execution *subject)
{
    char bytes[SENT_BYTES];
    char control[CMSG_SPACE(GIVEN * sizeof(int))];
    struct iovec part = {bytes, sizeof bytes};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control};
    struct cmsghdr *header;
    int given[GIVEN];

    message.msg_controllen = sizeof control;
    if (subject->channel < 0 ||
        recvmsg(subject->channel, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0)
        return;
    header = CMSG_FIRSTHDR(&message);
    if (!header || header->cmsg_type != SCM_RIGHTS)
        return;
    memcpy(given, CMSG_DATA(header), sizeof given);
    double_give(subject, given);
}

static void double_answer(struct double_execution *subject, uint8_t how)
{
    const uint8_t bytes[2] = {how & 1, 0};

    if (subject->channel >= 0 && !subject->is_ending)
        (void)!send(subject->channel, bytes, how & 2 ? 2 : 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void double_begin(struct double_execution *subject)
{
    if (!subject->execution.is_starting || subject->is_ending)
        return;
    subject->execution.is_starting = false;
    subject->execution.listener->began(subject->execution.listener);
}

/* Environments that prepare nothing */

struct double_environment {
    struct environment environment;
    struct list link;
    struct world *world;
    bool is_prepared;
    bool can_overlap;
    bool starts_later; /* as a container does */
};

static struct double_environment *double_in(const struct environment *environment)
{
    return CONTAINER_OF(environment, struct double_environment, environment);
}

static bool double_is_prepared(const struct environment *environment)
{
    return double_in(environment)->is_prepared;
}

static enum outcome double_prepare(struct environment *environment, struct error *err)
{
    struct double_environment *subject = double_in(environment);

    switch (next_byte(subject->world) % 4) {
    case 0:
        subject->is_prepared = true;
        return OUTCOME_READY;
    case 1:
        error_set(err, ERROR_UNAVAILABLE, "not to be had");
        return OUTCOME_FAILED;
    default:
        return OUTCOME_PENDING;
    }
}

static void double_cancel(struct environment *environment)
{
    (void)environment;
}

static struct execution *double_start(struct environment *environment,
                                      const struct execution_request *request,
                                      struct execution_listener *listener, struct error *err)
{
    struct double_environment *subject = double_in(environment);
    struct double_execution *execution;

    if (next_byte(subject->world) % 8 == 1) {
        error_set(err, ERROR_UNAVAILABLE, "it cannot be started");
        return NULL;
    }
    execution = double_new(subject->world, listener);
    execution->execution.is_starting = subject->starts_later;
    if (request->program) {
        execution->channel = fcntl(request->input, F_DUPFD_CLOEXEC, 0);
        execution->execution.copy = subject->starts_later ? NULL : double_copy;
    }
    return &execution->execution;
}

static enum script_delivery double_delivery(const struct environment *environment)
{
    return double_in(environment)->can_overlap ? SCRIPT_LAID_OVER : SCRIPT_IN_PLACE;
}

static bool double_can_overlap(const struct environment *environment)
{
    return double_in(environment)->can_overlap;
}

static const char *double_describe(const struct environment *environment)
{
    (void)environment;
    return NULL;
}

static struct process_receipt double_receipt(const struct environment *environment)
{
    (void)environment;
    return (struct process_receipt){0};
}

static void double_free(struct environment *environment)
{
    environment_deinit(environment);
    list_remove(&double_in(environment)->link);
    free(double_in(environment));
}

static const struct environment_kind double_kind = {.name = "double"};

static const struct environment_ops double_ops = {
    .kind = &double_kind,
    .is_prepared = double_is_prepared,
    .prepare = double_prepare,
    .cancel = double_cancel,
    .start = double_start,
    .delivery = double_delivery,
    .can_overlap = double_can_overlap,
    .describe_interpreter = double_describe,
    .python_version = double_describe,
    .expected_receipt = double_receipt,
    .free = double_free,
};

static struct environment *double_environment_new(struct world *world, uint8_t how)
{
    struct double_environment *subject = NEW(struct double_environment);
    struct environment_recipe recipe = {.name = "double", .loop = world->loop};

    environment_init(&subject->environment, &double_ops, &recipe);
    subject->environment.settings.output = 100;
    subject->world = world;
    subject->can_overlap = how & 1;
    subject->starts_later = how & 2;
    subject->is_prepared = how & 4;
    list_append(&world->doubles, &subject->link);
    return &subject->environment;
}

/* Calls */

static void call_submit_run(struct call *call, struct environment *environment, double timeout);

static void call_on_done(void *data, const struct run_report *report)
{
    struct call *call = data;
    struct environment *environment = call->environment;

    assert(call->is_begun && !call->is_cancelled && !call->is_over);
    call->run = NULL;
    call->cell = NULL;
    if (call->blocks > 0 && report->end == RUN_ENDED) {
        call->blocks--;
        call_submit_run(call, environment, LONG_SECONDS);
        return;
    }
    call->is_over = true;
    if (environment) {
        call->environment = NULL;
        environment_release(environment);
    }
}

static struct call *call_new(struct world *world, uint8_t client)
{
    struct call *call;

    if (world->count == MOST_CALLS)
        return NULL;
    call = NEW(struct call);
    call->world = world;
    call->client = client % CLIENTS;
    world->calls[world->count++] = call;
    return call;
}

/* Refused: it is over, as its client is told at once. */
static void call_refuse(struct call *call)
{
    call->is_over = true;
    if (call->environment)
        environment_release(call->environment);
    call->environment = NULL;
}

static void call_submit_run(struct call *call, struct environment *environment, double timeout)
{
    static const char *const owners[] = {"ann", "bob", "ann"};
    const struct run_request request = {
        .environment = environment,
        .directory = call->world->directory,
        .client = &call->world->clients[call->client],
        .code = "pass",
        .code_length = 4,
        .timeout = timeout,
        .owner = owners[call->client],
        .owner_runs = call->client == 1 ? 1 : 0,
        .data = call,
        .done = call_on_done,
    };
    struct error err = ERROR_INIT;

    call->is_begun = false;
    call->run = executor_submit(call->world->executor, &request, &err);
    call->is_begun = true;
    if (!call->run)
        call_refuse(call);
}

static void call_submit_cell(struct call *call, struct notebook *notebook, double timeout)
{
    const struct cell_request request = {
        .code = "pass", .code_length = 4, .timeout = timeout, .data = call, .done = call_on_done};

    call->cell = notebook_submit(notebook, &request);
    call->is_begun = true;
}

static void call_cancel(struct call *call)
{
    if (call->is_over || call->is_cancelled)
        return;
    call->is_cancelled = true;
    if (call->run)
        run_cancel(call->run);
    if (call->cell)
        cell_cancel(call->cell);
    if (call->environment)
        environment_release(call->environment);
    call->environment = NULL;
}

/* Steps */

static struct environment *some_environment(struct world *world)
{
    return world->environments[next_byte(world) % ENVIRONMENTS];
}

static double some_timeout(struct world *world)
{
    return next_byte(world) % 4 == 1 ? 0. : LONG_SECONDS;
}

static struct notebook *some_session(struct world *world)
{
    unsigned skipped = next_byte(world) % MOST_SESSIONS;
    struct notebook *notebook = notebooks_next(world->notebooks, "ann", NULL);

    while (notebook && skipped-- > 0) {
        struct notebook *next = notebooks_next(world->notebooks, "ann", notebook);

        notebook = next ? next : notebook;
    }
    return notebook;
}

static struct double_execution *some_execution(struct world *world)
{
    unsigned skipped = next_byte(world) % MOST_CALLS;

    if (list_is_empty(&world->executions))
        return NULL;
    LIST_FOR_EACH (&world->executions, link) {
        if (skipped-- == 0)
            return CONTAINER_OF(link, struct double_execution, link);
    }
    return CONTAINER_OF(world->executions.next, struct double_execution, link);
}

static void step_call(struct world *world)
{
    struct call *call = call_new(world, next_byte(world));

    if (call)
        call_submit_run(call, some_environment(world), some_timeout(world));
}

static void step_blocks(struct world *world)
{
    struct call *call = call_new(world, next_byte(world));

    if (!call)
        return;
    call->environment = some_environment(world);
    call->blocks = 2;
    environment_hold(call->environment);
    call_submit_run(call, call->environment, LONG_SECONDS);
}

static void step_session(struct world *world)
{
    const struct notebook_request request = {.environment = some_environment(world),
                                             .directory = world->directory,
                                             .isolation = ISOLATION_NONE,
                                             .owner = "ann"};
    struct error err = ERROR_INIT;
    struct notebook *notebook = notebooks_open(world->notebooks, &request, &err);
    struct call *call = notebook ? call_new(world, 0) : NULL;

    if (call)
        call_submit_cell(call, notebook, some_timeout(world));
    else if (notebook)
        notebooks_close(notebook);
}

static void step_cell(struct world *world)
{
    struct notebook *notebook = some_session(world);
    struct call *call = notebook ? call_new(world, 0) : NULL;

    if (call)
        call_submit_cell(call, notebook, some_timeout(world));
}

static void step_fork(struct world *world)
{
    struct notebook *origin = some_session(world);
    struct error err = ERROR_INIT;
    struct notebook *copy = origin ? notebooks_copy(world->notebooks, origin, &err) : NULL;
    struct call *call = copy ? call_new(world, 0) : NULL;

    if (call)
        call_submit_cell(call, copy, some_timeout(world));
    else if (copy)
        notebooks_close(copy);
}

static void step_cancel(struct world *world)
{
    if (world->count > 0)
        call_cancel(world->calls[next_byte(world) % world->count]);
}

static void step_close(struct world *world)
{
    struct notebook *notebook = some_session(world);
    struct error err = ERROR_INIT;

    if (!notebook)
        return;
    if (next_byte(world) % 4 == 1)
        (void)notebooks_restart(world->notebooks, notebook,
                                &(struct notebook_request){.environment = some_environment(world),
                                                           .directory = world->directory,
                                                           .isolation = ISOLATION_NONE,
                                                           .owner = "ann"},
                                &err);
    else
        notebooks_close(notebook);
}

/* A connection ends, and all calls that came by it. */
static void step_leave(struct world *world)
{
    unsigned client = next_byte(world) % CLIENTS;

    for (unsigned i = 0; i < world->count; i++)
        if (world->calls[i]->client == client)
            call_cancel(world->calls[i]);
}

static void set_limits(struct world *world, uint8_t how)
{
    executor_set_limits(world->executor, &(struct executor_settings){
                                             .loop = world->loop,
                                             .concurrent_runs = 1 + how % 3,
                                             .queued_runs = how % 8,
                                             .queued_runs_per_client = how % 8,
                                             .queued_runs_per_owner = how % 8,
                                         });
    notebooks_set_limits(world->notebooks, &(struct notebooks_settings){
                                               .loop = world->loop,
                                               .most = how & 64 ? 0 : MOST_SESSIONS,
                                               .most_per_owner = MOST_SESSIONS,
                                               .idle_seconds = how & 128 ? 0.001 : LONG_SECONDS,
                                           });
}

static void step_reload(struct world *world)
{
    unsigned which = next_byte(world) % ENVIRONMENTS;

    retirement_add(&world->retirement, world->environments[which]);
    world->environments[which] = double_environment_new(world, next_byte(world));
    set_limits(world, next_byte(world));
}

static void end_preparation(struct environment *environment, bool is_good)
{
    struct error err = ERROR_INIT;

    if (environment->state != ENVIRONMENT_PREPARING)
        return;
    double_in(environment)->is_prepared = is_good;
    error_set(&err, ERROR_UNAVAILABLE, "it has failed");
    environment_end_preparation(environment, is_good ? NULL : &err);
}

static void step_prepared(struct world *world)
{
    struct environment *environment = some_environment(world);

    end_preparation(environment, next_byte(world) % 4 != 1);
}

static void step_change(struct world *world)
{
    struct double_environment *environment = double_in(some_environment(world));

    environment->can_overlap = !environment->can_overlap; /* as when a machine gives less */
}

static void step_began(struct world *world)
{
    struct double_execution *subject = some_execution(world);

    if (subject)
        double_begin(subject);
}

static void step_output(struct world *world)
{
    struct double_execution *subject = some_execution(world);

    if (subject && !subject->is_ending)
        subject->execution.listener->output(subject->execution.listener, PROCESS_STDERR, "text", 4);
}

static void step_answer(struct world *world)
{
    struct double_execution *subject = some_execution(world);
    uint8_t how = next_byte(world);

    if (!subject)
        return;
    double_read(subject);
    double_answer(subject, how & 12 ? how & 1 : how);
}

static void step_end(struct world *world)
{
    struct double_execution *subject = some_execution(world);
    uint8_t how = next_byte(world);

    if (!subject || subject->is_ending)
        return;
    subject->end.refused = how % 8 == 1;
    subject->end.out_of_memory = how % 8 == 2;
    subject->end.out_of_disk = how % 8 == 3;
    strcpy(subject->end.failure, how % 8 == 4 ? "its end is not known" : "");
    double_end(subject, how % 8 == 5 ? 1 : 0);
}

static void step_hang_up(struct world *world)
{
    struct double_execution *subject = some_execution(world);

    if (subject)
        double_hang_up(subject);
}

static void step_turns(struct world *world)
{
    for (unsigned left = 1 + next_byte(world) % 8; left > 0; left--)
        turn(world);
}

static void (*const steps[])(struct world *world) = {
    step_call,   step_blocks,   step_session, step_cell,   step_fork,   step_cancel,
    step_close,  step_leave,    step_reload,  step_change, step_began,  step_output,
    step_answer, step_prepared, step_end,     step_turns,  step_hang_up};

/* The world, and its end */

static char *scratch;

static void remove_scratch(void)
{
    struct directory_removal removal;
    int fd = open(scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    directory_removal_init(&removal, fd);
    while (directory_removal_step(&removal, 1000))
        ;
    directory_removal_deinit(&removal);
    close(fd);
    rmdir(scratch);
    free(scratch);
}

static void make_scratch(void)
{
    if (scratch)
        return;
    scratch = memory_copy_string("/tmp/pyexecd-fuzz-XXXXXX");
    assert(mkdtemp(scratch));
    atexit(remove_scratch);
}

static void open_directory(struct world *world)
{
    struct error err = ERROR_INIT;
    char *path;
    char *root;

    make_scratch();
    path = memory_format("%s/work", scratch);
    root = memory_format("%s/root", scratch);
    (void)mkdir(path, 0700);
    world->workplace =
        workplace_new(&(struct workplace_settings){.loop = world->loop,
                                                   .path = path,
                                                   .isolations = 1U << ISOLATION_NONE,
                                                   .root = root,
                                                   .keep_seconds = LONG_SECONDS},
                      &err);
    assert(world->workplace);
    world->directory = workplace_open(world->workplace, "ann", ISOLATION_NONE, NULL, &err);
    assert(world->directory);
    free(path);
    free(root);
}

static void world_init(struct world *world)
{
    const struct executor_settings settings = {.loop = world->loop, .concurrent_runs = 2};

    open_directory(world);
    list_init(&world->executions);
    list_init(&world->doubles);
    retirement_init(&world->retirement, world->loop);
    world->executor = executor_new(&settings);
    world->notebooks = notebooks_new(&(struct notebooks_settings){.loop = world->loop});
    set_limits(world, 7);
    for (int i = 0; i < CLIENTS; i++)
        executor_client_init(&world->clients[i]);
    for (int i = 0; i < ENVIRONMENTS; i++)
        world->environments[i] = double_environment_new(world, next_byte(world));
}

/* Whatever waits for something gets it. */
static void let_end(struct world *world)
{
    LIST_FOR_EACH_SAFE (&world->doubles, link) {
        end_preparation(&CONTAINER_OF(link, struct double_environment, link)->environment, true);
    }
    LIST_FOR_EACH_SAFE (&world->executions, link) {
        struct double_execution *subject = CONTAINER_OF(link, struct double_execution, link);

        double_end(subject, 0);
    }
    turn(world);
}

static bool all_are_over(const struct world *world)
{
    for (unsigned i = 0; i < world->count; i++)
        if (!world->calls[i]->is_over && !world->calls[i]->is_cancelled)
            return false;
    return executor_is_idle(world->executor);
}

static void settle(struct world *world)
{
    int turns = 0;

    while (!all_are_over(world)) {
        let_end(world);
        assert(++turns < TURNS && "a call never ends");
    }
}

static bool has_stopped(const struct world *world)
{
    return executor_is_idle(world->executor) && notebooks_are_idle(world->notebooks) &&
           retirement_is_idle(&world->retirement) && list_is_empty(&world->executions);
}

static void world_end(struct world *world)
{
    int turns = 0;

    executor_stop(world->executor);
    notebooks_stop(world->notebooks);
    while (!has_stopped(world)) {
        turn(world);
        assert(++turns < TURNS && "something never stops");
    }
    executor_free(world->executor);
    notebooks_free(world->notebooks);
    for (int i = 0; i < ENVIRONMENTS; i++)
        environment_free(world->environments[i]);
    retirement_deinit(&world->retirement);
    for (unsigned i = 0; i < world->count; i++)
        free(world->calls[i]);
    working_directory_unref(world->directory);
    workplace_free(world->workplace);
    ev_loop_destroy(world->loop);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct world world = {.data = data, .size = size, .loop = ev_loop_new(EVFLAG_AUTO)};

    world_init(&world);
    for (int i = 0; i < MOST_STEPS && world.size > 0; i++)
        steps[next_byte(&world) % ARRAY_SIZE(steps)](&world);
    settle(&world);
    world_end(&world);
    return 0;
}
