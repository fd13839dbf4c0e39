/* `pyexecd node`: the far side of a node, for the server whose launcher has started it. It reads no
 * configuration: the server says what is to be done. */
#include "base/cleanup.h"
#include "base/list.h"
#include "base/log.h"
#include "base/memory.h"
#include "environments/instance.h"
#include "environments/outpost/outpost.h"
#include "environments/process/receipt.h"
#include "server/commands/command.h"
#include "server/companions.h"
#include "server/loop.h"
#include "server/state_directory.h"
#include "server/transport/standard_io.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#define NODE_DRAIN_SECONDS 4.5 /* as a server has */

struct node_program {
    struct ev_loop *loop;
    char *state;
    char *runner;
    char *core;
    char *container_init;
    char *proxy;
    struct instance *instance;
    struct standard_io io;
    struct outpost *outpost;
    struct interruption interruption;
    struct ev_prepare looking; /* each time before the loop would wait */
    struct ev_timer deadline;
};

static void command_node_on_missing(void *data, const char *what)
{
    (void)data;
    if (!process_receipt_is_replaced(what))
        log_warning("containment is weaker than it could be: %s", what);
}

static void command_node_on_looking(struct ev_loop *loop, struct ev_prepare *prepare, int events)
{
    const struct node_program *program = CONTAINER_OF(prepare, struct node_program, looking);

    (void)events;
    if (outpost_is_over(program->outpost))
        ev_break(loop, EVBREAK_ALL);
}

static void command_node_on_deadline(struct ev_loop *loop, struct ev_timer *timer, int events)
{
    (void)timer;
    (void)events;
    ev_break(loop, EVBREAK_ALL);
}

/* A signal that ends this program ends its scripts, too: no script is said to have ended by itself.
 */
static void command_node_on_signal(struct interruption *interruption)
{
    outpost_stop(CONTAINER_OF(interruption, struct node_program, interruption)->outpost);
}

/* The output of a pipe whose reader is gone is found out by its input, which ends as well. */
static int command_node_serve(struct node_program *program)
{
    struct interruption *interruption = &program->interruption;

    ev_prepare_init(&program->looking, command_node_on_looking);
    ev_prepare_start(program->loop, &program->looking);
    interruption_start(interruption, program->loop);
    interruption->came = command_node_on_signal;
    ev_run(program->loop, 0);
    interruption_stop(interruption);
    outpost_stop(program->outpost);
    ev_timer_init(&program->deadline, command_node_on_deadline, NODE_DRAIN_SECONDS, 0.);
    ev_now_update(program->loop);
    ev_timer_start(program->loop, &program->deadline);
    if (!outpost_is_over(program->outpost))
        ev_run(program->loop, 0);
    ev_timer_stop(program->loop, &program->deadline);
    ev_prepare_stop(program->loop, &program->looking);
    if (*outpost_why(program->outpost))
        log_error("the server is given up: %s", outpost_why(program->outpost));
    if (interruption->signal)
        return interruption_status(interruption->signal);
    return *outpost_why(program->outpost) ? EXIT_FAILURE : EX_OK;
}

/* A shell that stays has the wire open, where a script of its user could get at it. */
static void command_node_check_parent(void)
{
    AUTO_FREE char *path = memory_format("/proc/%d/fd/%d", (int)getppid(), STDIN_FILENO);
    struct stat theirs;
    struct stat ours;

    if (stat(path, &theirs) == 0 && fstat(STDIN_FILENO, &ours) == 0 &&
        theirs.st_ino == ours.st_ino && theirs.st_dev == ours.st_dev)
        log_warning(
            "the program before it has the wire open, too: end it with `exec pyexecd node`");
}

static int command_node_open(struct node_program *program, struct error *err)
{
    int in;
    int out;

    command_node_check_parent();

    program->loop = loop_new();
    program->state = state_directory_open(err);
    if (!program->state)
        return -1;
    program->instance = instance_new(program->state, err);
    if (!program->instance || standard_io_open(&program->io, &in, &out, err) < 0)
        return -1;
    program->runner = companions_find(COMPANION_RUNNER);
    program->core = companions_find(COMPANION_CORE);
    program->container_init = companions_find(COMPANION_CONTAINER_INIT);
    program->proxy = companions_find(COMPANION_PROXY);
    program->outpost = outpost_new(
        &(struct outpost_settings){
            .host = {.loop = program->loop,
                     .runner_path = program->runner,
                     .core_path = program->core,
                     .missing = command_node_on_missing},
            .state = program->state,
            .instance = program->instance,
            .container_init = program->container_init,
            .proxy = program->proxy,
        },
        in, out);
    return 0;
}

/* The kernel ends our trees with us, if there was no time to wait for their end. */
static void command_node_close(struct node_program *program)
{
    if (program->outpost && !outpost_is_over(program->outpost))
        _exit(EX_SOFTWARE);
    if (program->outpost)
        outpost_free(program->outpost);
    instance_free(program->instance);
    standard_io_close(&program->io);
    free(program->state);
    free(program->runner);
    free(program->core);
    free(program->container_init);
    free(program->proxy);
    ev_loop_destroy(program->loop);
}

int command_node(const struct options *options)
{
    struct node_program program = {.io = STANDARD_IO_INIT};
    struct error err = ERROR_INIT;
    int status;

    (void)options;
    if (isatty(STDIN_FILENO)) {
        error_set(&err, ERROR_USAGE, "%s",
                  "a server starts it, by the launcher in its configuration (nodes)");
        return command_fail(&err);
    }
    status =
        command_node_open(&program, &err) < 0 ? command_fail(&err) : command_node_serve(&program);
    command_node_close(&program);
    return status;
}
