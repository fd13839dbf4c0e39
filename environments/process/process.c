#include "environments/process/process.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "environments/process/control.h"
#include "environments/process/host_private.h"
#include "environments/process/tree_private.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MFD_NOEXEC_SEAL /* Linux 6.3 */
#define MFD_NOEXEC_SEAL 0x8U
#endif

static int append_strings(struct buffer *job, const char *const *strings, uint32_t *ret_count,
                          struct error *err)
{
    uint32_t count = 0;

    for (; strings[count]; count++)
        if (buffer_append(job, strings[count], strlen(strings[count]) + 1, err) < 0)
            return -1;
    *ret_count = count;
    return 0;
}

/* PATHS, each behind ACCESS. */
static int append_paths(struct buffer *job, char access, const char *const *paths, uint32_t *count,
                        struct error *err)
{
    for (; paths && *paths; paths++, ++*count)
        if (buffer_append(job, &access, 1, err) < 0 ||
            buffer_append(job, *paths, strlen(*paths) + 1, err) < 0)
            return -1;
    return 0;
}

static int append_sandbox(struct buffer *job, const struct process_sandbox *sandbox,
                          uint32_t *ret_count, struct error *err)
{
    *ret_count = 0;
    if (!sandbox)
        return 0;
    return append_paths(job, CONTROL_READ, sandbox->read, ret_count, err) < 0 ||
                   append_paths(job, CONTROL_WRITE, sandbox->write, ret_count, err) < 0 ||
                   append_paths(job, CONTROL_DEVICE, sandbox->devices, ret_count, err) < 0
               ? -1
               : 0;
}

/* The CONTROL_RUN for COMMAND, without limits. */
static int make_job(struct buffer *job, const struct process_command *command, struct error *err)
{
    const char *const last[] = {
        command->directory,
        command->script,
        NULL,
    };
    char head[WIRE_HEAD_BYTES] = {0};
    struct control_run run = {
        .has_script = command->script != NULL,
        .has_starter = command->has_starter,
        .has_outlet = command->sandbox && command->sandbox->outlet > 0,
    };
    uint32_t count;

    if (buffer_append(job, head, sizeof head, err) < 0 ||
        buffer_append(job, (const char *)&run, sizeof run, err) < 0 ||
        append_strings(job, command->arguments, &run.argument_count, err) < 0 ||
        append_strings(job, command->environment, &run.variable_count, err) < 0 ||
        append_sandbox(job, command->sandbox, &run.path_count, err) < 0 ||
        append_strings(job, last, &count, err) < 0)
        return error_prefix(err, "arguments, environment variables and paths together");
    wire_put_head(buffer_bytes(job), CONTROL_RUN, buffer_length(job) - sizeof head);
    memcpy(buffer_bytes(job) + sizeof head, &run, sizeof run);
    return 0;
}

static int process_copy(int fd, const char *what, struct error *err)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

    return copy < 0 ? error_set_errno(err, errno, "cannot hand over the %s", what) : copy;
}

/* A file in memory with the LENGTH bytes of CODE, without a name that anybody could open; owned by
 * the caller. */
static int process_keep_code(const char *code, size_t length, struct error *err)
{
    AUTO_CLOSE int fd = memfd_create("script.py", MFD_CLOEXEC | MFD_NOEXEC_SEAL);

    if (fd < 0 && errno == EINVAL) /* an older kernel */
        fd = memfd_create("script.py", MFD_CLOEXEC);
    if (fd < 0)
        return error_set_errno(err, errno, "cannot keep the script in memory");
    return fd_write_all(fd, code, length, err) < 0 ? -1 : STEAL_FD(fd);
}

/* Gives TREE the descriptors of COMMAND that go with the job. */
static int process_hand_over(struct tree *tree, const struct process_command *command,
                             struct error *err)
{
    if (command->sandbox && command->sandbox->outlet > 0) {
        tree->outlet = process_copy(command->sandbox->outlet, "way to the proxy", err);
        if (tree->outlet < 0)
            return -1;
    }
    if (command->tools > 0) {
        tree->tools = process_copy(command->tools, "way to the tools", err);
        if (tree->tools < 0)
            return -1;
    }
    if (command->input > 0) {
        tree->has_input = true;
        tree->input = process_copy(command->input, "input", err);
        if (tree->input < 0)
            return -1;
    }
    if (!command->script)
        return 0;
    tree->code = process_keep_code(command->code, command->code_length, err);
    return tree->code < 0 ? -1 : 0;
}

/* Notes in JOB the sockets that the program of COMMAND has for itself. A forecast is made from JOB
 * before: it has none. */
static void process_note_sockets(struct buffer *job, const struct process_command *command)
{
    char *place = buffer_bytes(job) + WIRE_HEAD_BYTES;
    struct control_run run;

    memcpy(&run, place, sizeof run);
    run.has_input = command->input > 0;
    run.has_tools = command->tools > 0;
    memcpy(place, &run, sizeof run);
}

/* Runs COMMAND in TREE. A tree that was started ahead lacks the code only. */
static int process_run(struct process *process, struct tree *tree,
                       const struct process_command *command, struct buffer *job, struct error *err)
{
    if (process_hand_over(tree, command, err) < 0)
        return -1;
    if (!tree->is_ahead)
        return tree_run(tree, process, job, &command->limits, err);
    tree_complete(tree, process, job);
    return 0;
}

static int process_find_tree(struct process_host *host, struct process *process,
                             const struct process_command *command, struct buffer *job,
                             struct error *err)
{
    const struct tree_wish wish = tree_wish_of_command(command);
    struct forecast *forecast =
        command->recurrence ? forecasts_hold(host_forecasts(host), command, job, &wish) : NULL;
    struct tree *tree = forecast ? host_take_ahead(host, forecast, command->input > 0) : NULL;

    if (!tree)
        tree = host_take(host, &wish, err);
    if (!tree) {
        forecast_drop(forecast);
        return -1;
    }
    forecast_drop(tree->forecast);
    tree->forecast = forecast;
    process_note_sockets(job, command);
    if (process_run(process, tree, command, job, err) < 0) {
        tree_kill(tree);
        return -1;
    }
    if (command->input > 0)
        host_expect_again(tree);
    return 0;
}

int process_start(struct process_host *host, struct process *process,
                  const struct process_command *command, struct error *err)
{
    struct buffer job;
    int ret;

    assert(process->output && process->ended);
    assert(!command->recurrence || (command->has_starter && command->mark));
    assert(!command->recurrence || command->script || command->is_alone);
    buffer_init(&job, CONTROL_LIMIT_BYTES);
    ret = make_job(&job, command, err);
    if (ret == 0)
        ret = process_find_tree(host, process, command, &job, err);
    buffer_deinit(&job);
    return ret;
}

void process_drain(struct process *process)
{
    if (process->tree)
        tree_read_rest(process->tree);
}

void process_hold(struct process *process, bool is_held)
{
    if (process->tree)
        tree_hold(process->tree, is_held);
}

void process_interrupt(struct process *process)
{
    if (process->tree)
        tree_interrupt(process->tree);
}

void process_kill(struct process *process)
{
    if (process->tree)
        tree_kill(process->tree);
}
