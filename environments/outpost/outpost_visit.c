#include "environments/outpost/outpost_private.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/untrusted.h"
#include "environments/execution.h"
#include "environments/outpost/outpost_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define OUTPOST_SIGNAL_SECONDS   0.2 /* between the signals to all processes of a job, at most */
#define OUTPOST_DEADLINE_SECONDS 10. /* behind that of the server, which kills at its own */

enum {
    OUTPOST_UNSAID_BYTES = 16 << 20, /* more than pipes hold, which are read when all has ended */
    OUTPOST_CELLS_BYTES = 16 << 20,
    OUTPOST_ANSWER_BYTES = 64,
    OUTPOST_RECORD_BYTES = 1 + 4, /* type and length */
};

struct outpost_visit {
    struct list link; /* in the outpost */
    struct outpost *outpost;
    uint32_t channel;
    uint32_t number;                 /* of its environment */
    struct environment *environment; /* held; or NULL */
    struct environment_waiter waiter;
    bool is_mute; /* the wire has ended */
    bool is_over; /* NODE_ENDED is said, or unsaid */
    json_t *end;  /* owned: of NODE_ENDED, behind all files; or NULL */
    ev_timer ending;

    /* Of an execution. */
    bool executes;
    struct node_request request;
    char *code;        /* owned */
    size_t code_count; /* of it that has come */
    struct execution_listener listener;
    struct execution *execution; /* borrowed; or NULL */
    ev_timer deadline;

    size_t credit;        /* bytes that may be said */
    struct buffer unsaid; /* records of frames: type, length, bytes */
    bool is_held;         /* its output is not read */

    int input;           /* owned: the other end of its standard input; -1 */
    struct buffer cells; /* for it */
    ev_io reading;
    ev_io writing;

    struct outpost_copy copy; /* without a directory: both machines have the server's */
    bool has_files;           /* the server has sent what it has */
    char *script;             /* owned: that of the request, here; or NULL */
    json_t *cell;             /* owned: the end of a cell, behind its files; or NULL */
    bool has_insisted;        /* there was another answer while its files went back */
    bool is_out_of_disk;
};

static struct ev_loop *outpost_visit_loop(const struct outpost_visit *visit)
{
    return visit->outpost->settings.host.loop;
}

static void outpost_visit_close_input(struct outpost_visit *visit)
{
    ev_io_stop(outpost_visit_loop(visit), &visit->reading);
    ev_io_stop(outpost_visit_loop(visit), &visit->writing);
    if (visit->input >= 0)
        close(STEAL_FD(visit->input));
}

static void outpost_visit_free(struct outpost_visit *visit)
{
    outpost_visit_close_input(visit);
    ev_timer_stop(outpost_visit_loop(visit), &visit->deadline);
    ev_timer_stop(outpost_visit_loop(visit), &visit->ending);
    environment_forget_waiter(&visit->waiter);
    if (visit->environment)
        environment_release(visit->environment);
    if (visit->executes)
        node_request_deinit(&visit->request);
    outpost_copy_close(&visit->copy);
    buffer_deinit(&visit->unsaid);
    buffer_deinit(&visit->cells);
    json_decref(visit->cell);
    json_decref(visit->end);
    free(visit->script);
    free(visit->code);
    list_remove(&visit->link);
    free(visit);
}

/* Its frames */

static bool outpost_visit_needs_credit(enum node_frame type)
{
    return type == NODE_OUT || type == NODE_ERRORS;
}

static void outpost_visit_hold(struct outpost_visit *visit, bool is_held)
{
    if (!visit->execution || !visit->execution->hold || visit->is_held == is_held)
        return;
    visit->is_held = is_held;
    visit->execution->hold(visit->execution, is_held);
}

/* False when the first record cannot be said now. */
static bool outpost_visit_say_first(struct outpost_visit *visit)
{
    const char *record = buffer_bytes(&visit->unsaid);
    const char *place = record + 1;
    const enum node_frame type = (enum node_frame)record[0];
    const size_t length = (size_t)wire_take(&place, OUTPOST_RECORD_BYTES - 1);

    if (outpost_visit_needs_credit(type)) {
        if (visit->credit < length)
            return false;
        visit->credit -= length;
    }
    node_wire_send(&visit->outpost->wire, type, visit->channel, place, length);
    buffer_consume(&visit->unsaid, OUTPOST_RECORD_BYTES + length);
    return true;
}

/* A script whose output is not wanted yet is held up by its pipes. */
static void outpost_visit_say_all(struct outpost_visit *visit)
{
    while (buffer_length(&visit->unsaid) > 0 && outpost_visit_say_first(visit))
        continue;
    outpost_visit_hold(visit, buffer_length(&visit->unsaid) > 0);
}

static void outpost_visit_say(struct outpost_visit *visit, enum node_frame type, const char *data,
                              size_t length)
{
    char head[OUTPOST_RECORD_BYTES] = {(char)type};
    struct error err = ERROR_INIT;

    if (visit->is_mute)
        return;
    wire_put(head + 1, length, sizeof head - 1);
    if (buffer_append(&visit->unsaid, head, sizeof head, &err) < 0 ||
        buffer_append(&visit->unsaid, data, length, &err) < 0) {
        node_wire_fail(&visit->outpost->wire, "a script has printed more than can be kept");
        return;
    }
    outpost_visit_say_all(visit);
}

static void outpost_visit_tell(struct outpost_visit *visit, enum node_frame type,
                               json_t *message) /* taken */
{
    AUTO_FREE char *text = json_text(message);

    json_decref(message);
    outpost_visit_say(visit, type, text, strlen(text));
}

/* Its end */

/* It is gone when all is said. */
static void outpost_visit_settle(struct outpost_visit *visit)
{
    if (visit->is_over && buffer_length(&visit->unsaid) == 0)
        outpost_visit_free(visit);
}

static void outpost_visit_end(struct outpost_visit *visit, json_t *message) /* taken */
{
    visit->is_over = true;
    outpost_visit_close_input(visit);
    ev_timer_stop(outpost_visit_loop(visit), &visit->deadline);
    ev_timer_stop(outpost_visit_loop(visit), &visit->ending);
    outpost_visit_tell(visit, NODE_ENDED, message);
    outpost_visit_settle(visit);
}

/* Its script has ended: its files are still to go. */
static void outpost_visit_leave(struct outpost_visit *visit)
{
    if (visit->has_files && !visit->is_mute)
        outpost_copy_return(&visit->copy);
    else
        outpost_visit_end(visit, STEAL_PTR(visit->end));
}

static void outpost_visit_on_ending(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    outpost_visit_leave(CONTAINER_OF(timer, struct outpost_visit, ending));
}

/* A scheduler that has ended the script may be about to end us, too. Then nothing is told
 * but the end of the wire. */
static void outpost_visit_leave_later(struct outpost_visit *visit)
{
    ev_now_update(outpost_visit_loop(visit));
    ev_timer_start(outpost_visit_loop(visit), &visit->ending);
}

static void outpost_visit_fail(struct outpost_visit *visit, const char *failure)
{
    struct process_end end;

    node_end_fail(&end, failure, NULL);
    outpost_visit_end(visit, node_end_write(&end));
}

static void outpost_visit_fail_by(struct outpost_visit *visit, const struct error *err)
{
    AUTO_FREE char *text = error_text(err);

    outpost_visit_fail(visit, text);
}

/* Its execution */

static void outpost_visit_on_began(struct execution_listener *listener)
{
    struct outpost_visit *visit = CONTAINER_OF(listener, struct outpost_visit, listener);
    const double timeout = visit->request.request.timeout;

    outpost_visit_say(visit, NODE_BEGUN, NULL, 0);
    if (timeout <= 0)
        return;
    ev_now_update(outpost_visit_loop(visit));
    ev_timer_set(&visit->deadline, timeout + OUTPOST_DEADLINE_SECONDS, 0.);
    ev_timer_start(outpost_visit_loop(visit), &visit->deadline);
}

static void outpost_visit_on_deadline(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct outpost_visit *visit = CONTAINER_OF(timer, struct outpost_visit, deadline);

    (void)loop;
    (void)events;
    log_warning("a script is killed: the server has not ended it in its time");
    if (visit->execution)
        visit->execution->kill(visit->execution);
}

static void outpost_visit_on_output(struct execution_listener *listener, enum process_stream stream,
                                    const char *data, size_t length)
{
    struct outpost_visit *visit = CONTAINER_OF(listener, struct outpost_visit, listener);

    while (length > 0) {
        const size_t count = size_min(length, NODE_PIECE_BYTES);

        outpost_visit_say(visit, stream == PROCESS_STDOUT ? NODE_OUT : NODE_ERRORS, data, count);
        data += count;
        length -= count;
    }
}

/* Schedulers end scripts by SIGTERM. If that hits the supervisor, the end is a failure. */
static bool outpost_visit_was_terminated(const struct process_end *end)
{
    const bool has_begun = !end->refused && !end->vanished;

    return !end->killed && has_begun && (end->returncode == -SIGTERM || end->failure[0]);
}

/* A layer that was refused was expected: the server is to expect less. The files of a cell under
 * way come with all others. */
static void outpost_visit_on_ended(struct execution_listener *listener,
                                   const struct process_end *end)
{
    struct outpost_visit *visit = CONTAINER_OF(listener, struct outpost_visit, listener);
    struct process_end told = *end;

    visit->execution = NULL;
    told.out_of_disk |= visit->is_out_of_disk;
    if (end->refused)
        outpost_visit_tell(visit, NODE_PREPARED, node_facts_write(visit->environment));
    outpost_visit_close_input(visit);
    ev_timer_stop(outpost_visit_loop(visit), &visit->deadline);
    json_decref(STEAL_PTR(visit->cell));
    visit->end = node_end_write(&told);
    if (outpost_visit_was_terminated(end))
        outpost_visit_leave_later(visit);
    else
        outpost_visit_leave(visit);
}

/* Its input: a socket, over which cells go to the program of a session, and a byte comes back for
 * each of them. */

static void outpost_visit_flush_cells(struct outpost_visit *visit)
{
    while (buffer_length(&visit->cells) > 0) {
        const ssize_t sent = send(visit->input, buffer_bytes(&visit->cells),
                                  buffer_length(&visit->cells), MSG_DONTWAIT | MSG_NOSIGNAL);

        if (sent < 0 && errno == EAGAIN) {
            ev_io_start(outpost_visit_loop(visit), &visit->writing);
            return;
        }
        if (sent < 0 && errno != EINTR)
            break; /* its end is told elsewhere */
        if (sent > 0) {
            buffer_consume(&visit->cells, (size_t)sent);
            node_wire_give_credit(&visit->outpost->wire, visit->channel, (size_t)sent);
        }
    }
    ev_io_stop(outpost_visit_loop(visit), &visit->writing);
}

static void outpost_visit_on_writable(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct outpost_visit *visit = CONTAINER_OF(watcher, struct outpost_visit, writing);

    if (events & EV_ERROR)
        ev_io_stop(loop, watcher);
    else
        outpost_visit_flush_cells(visit);
}

static void outpost_visit_on_cells(struct outpost_visit *visit, const char *data, size_t length)
{
    struct error ignored = ERROR_INIT;

    if (visit->input < 0)
        return;
    if (buffer_append(&visit->cells, data, length, &ignored) < 0)
        node_wire_fail(&visit->outpost->wire, "it has sent cells without credit");
    else
        outpost_visit_flush_cells(visit);
}

/* The output before this answer belongs to the cell, and so do the files. A second answer to one
 * cell is the script's own, and the server's to judge, behind the files, too. */
static void outpost_visit_answer(struct outpost_visit *visit, unsigned char status)
{
    struct process_usage usage;
    json_t *message;

    visit->execution->drain(visit->execution);
    usage = visit->execution->measure(visit->execution);
    message = node_usage_write(status, &usage);
    if (!visit->has_files) {
        outpost_visit_tell(visit, NODE_CELL, message);
    } else if (visit->cell) {
        visit->has_insisted = true;
        json_decref(message);
    } else {
        visit->cell = message;
        outpost_copy_return(&visit->copy);
    }
}

static void outpost_visit_on_answer(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct outpost_visit *visit = CONTAINER_OF(watcher, struct outpost_visit, reading);
    unsigned char answers[OUTPOST_ANSWER_BYTES];
    const ssize_t count =
        events & EV_ERROR ? 0 : recv(visit->input, answers, sizeof answers, MSG_DONTWAIT);

    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (count <= 0 || !visit->execution) {
        ev_io_stop(loop, watcher);
        return;
    }
    for (ssize_t i = 0; i < count; i++)
        outpost_visit_answer(visit, answers[i]);
}

static int outpost_visit_open_input(struct outpost_visit *visit, int *ret_theirs, struct error *err)
{
    int pair[2];

    if (!visit->request.has_input)
        return 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return error_set_errno(err, errno, "cannot make a socket for the session");
    visit->input = pair[0];
    *ret_theirs = pair[1];
    ev_io_set(&visit->reading, visit->input, EV_READ);
    ev_io_set(&visit->writing, visit->input, EV_WRITE);
    ev_io_start(outpost_visit_loop(visit), &visit->reading);
    return 0;
}

/* The way to its code */

static void outpost_visit_add_code(struct outpost_visit *visit, struct execution_request *request)
{
    if (visit->request.code_length == 0)
        return;
    if (visit->request.is_program) {
        request->program = visit->code;
        return;
    }
    request->code = visit->code;
    request->code_length = visit->code_count;
    if (visit->request.has_text)
        request->text = visit->code;
}

/* The working directory, opened. The machine may have another one at its path. */
static int outpost_visit_open_directory(const struct outpost_visit *visit, const char *path,
                                        struct error *err)
{
    AUTO_CLOSE int directory = untrusted_open_directory(AT_FDCWD, path, err);
    struct stat status;

    if (directory < 0)
        return -1;
    if (visit->request.inode != 0 &&
        (fstat(directory, &status) < 0 || status.st_ino != visit->request.inode))
        return error_set(err, ERROR_UNAVAILABLE,
                         "the node has another directory than the server at %s", path);
    return STEAL_FD(directory);
}

/* The copy stands for the directory of the server. */
static int outpost_visit_move(struct outpost_visit *visit, struct execution_request *request,
                              struct error *err)
{
    if (!visit->has_files)
        return 0;
    if (request->script) {
        visit->script = outpost_copy_translate(&visit->copy, request->script, request->directory);
        if (!visit->script)
            return error_set(err, ERROR_UNAVAILABLE,
                             "the script lies outside of the directory that is copied to the "
                             "node: %s",
                             request->script);
        request->script = visit->script;
    }
    request->directory = outpost_copy_path(&visit->copy);
    return 0;
}

static int outpost_visit_execute(struct outpost_visit *visit, struct error *err)
{
    struct execution_request request = visit->request.request;
    AUTO_CLOSE int theirs = -1;
    AUTO_CLOSE int directory = -1;
    char **variables;

    if (outpost_visit_move(visit, &request, err) < 0)
        return -1;
    directory = outpost_visit_open_directory(visit, request.directory, err);
    if (directory < 0 || outpost_visit_open_input(visit, &theirs, err) < 0)
        return -1;
    request.directory_fd = directory;
    request.input = theirs > 0 ? theirs : 0;
    if (visit->request.is_recurrent && !visit->has_files)
        request.recurrence = &visit->outpost->recurrence;
    outpost_visit_add_code(visit, &request);
    outpost_place_keep(visit->outpost, visit->number, request.directory, visit->request.kept);
    variables = outpost_variables_new(visit->environment, request.variables);
    request.variables = (const char *const *)variables;
    visit->execution = environment_start(visit->environment, &request, &visit->listener, err);
    memory_free_strings(variables);
    return visit->execution ? 0 : -1;
}

static void outpost_visit_go_on(struct outpost_visit *visit)
{
    struct error_rest rest;
    struct error err = ERROR_INIT_LONG(&rest);

    if (!visit->executes) {
        outpost_visit_tell(visit, NODE_PREPARED, node_facts_write(visit->environment));
        outpost_visit_end(visit, json_object());
    } else if (outpost_visit_execute(visit, &err) < 0) {
        outpost_visit_fail_by(visit, &err);
    } else if (!visit->execution->is_starting) {
        outpost_visit_on_began(&visit->listener);
    }
}

static void outpost_visit_on_step(struct environment_waiter *waiter,
                                  const struct preparation_step *step)
{
    struct outpost_visit *visit = CONTAINER_OF(waiter, struct outpost_visit, waiter);

    outpost_visit_tell(visit, NODE_STEP,
                       json_pack("{s:o, s:f}", "text", json_string_format("%s", step->text),
                                 "fraction", step->fraction));
}

static void outpost_visit_on_prepared(struct environment_waiter *waiter, const struct error *err)
{
    struct outpost_visit *visit = CONTAINER_OF(waiter, struct outpost_visit, waiter);

    if (err)
        outpost_visit_fail_by(visit, err);
    else
        outpost_visit_go_on(visit);
}

static void outpost_visit_begin(struct outpost_visit *visit)
{
    struct error_rest rest;
    struct error err = ERROR_INIT_LONG(&rest);

    visit->environment = outpost_place_find(visit->outpost, visit->number, &err);
    if (!visit->environment) {
        outpost_visit_fail_by(visit, &err);
        return;
    }
    environment_hold(visit->environment);
    switch (environment_prepare(visit->environment, &visit->waiter, &err)) {
    case OUTCOME_READY:
        outpost_visit_go_on(visit);
        break;
    case OUTCOME_FAILED:
        outpost_visit_fail_by(visit, &err);
        break;
    case OUTCOME_PENDING:
        break;
    }
}

/* The copy of its directory */

static struct outpost_visit *outpost_visit_that_copies(struct outpost_copy *copy)
{
    return CONTAINER_OF(copy, struct outpost_visit, copy);
}

static void outpost_visit_on_copy_frame(struct outpost_copy *copy, enum node_frame type,
                                        const char *data, size_t length)
{
    outpost_visit_say(outpost_visit_that_copies(copy), type, data, length);
}

static void outpost_visit_begin_whole(struct outpost_visit *visit)
{
    if (visit->code_count == visit->request.code_length &&
        (!visit->copy.directory || visit->has_files))
        outpost_visit_begin(visit);
}

static void outpost_visit_on_files_ready(struct outpost_copy *copy)
{
    struct outpost_visit *visit = outpost_visit_that_copies(copy);

    visit->has_files = true;
    outpost_visit_begin_whole(visit);
}

static void outpost_visit_end_cell(struct outpost_visit *visit)
{
    if (visit->has_insisted)
        outpost_visit_tell(visit, NODE_CELL, json_incref(visit->cell));
    visit->has_insisted = false;
    outpost_visit_tell(visit, NODE_CELL, STEAL_PTR(visit->cell));
}

static void outpost_visit_on_returned(struct outpost_copy *copy)
{
    struct outpost_visit *visit = outpost_visit_that_copies(copy);

    if (visit->cell)
        outpost_visit_end_cell(visit);
    else
        outpost_visit_end(visit, STEAL_PTR(visit->end));
}

static void outpost_visit_on_exceeded(struct outpost_copy *copy)
{
    struct outpost_visit *visit = outpost_visit_that_copies(copy);

    visit->is_out_of_disk = true;
    if (visit->execution)
        visit->execution->kill(visit->execution);
}

static int outpost_visit_open_copy(struct outpost_visit *visit, struct error *err)
{
    if (!visit->request.is_copied)
        return 0;
    if (!visit->outpost->workplace)
        return error_set(err, ERROR_UNAVAILABLE,
                         "the node was greeted as one that has the server's directories");
    visit->copy.loop = outpost_visit_loop(visit);
    visit->copy.credit = &visit->credit;
    visit->copy.frame = outpost_visit_on_copy_frame;
    visit->copy.ready = outpost_visit_on_files_ready;
    visit->copy.returned = outpost_visit_on_returned;
    visit->copy.exceeded = outpost_visit_on_exceeded;
    return outpost_copy_open(&visit->copy, visit->outpost->workplace, &visit->request, err);
}

static void outpost_visit_on_file(struct outpost_visit *visit, enum node_frame type,
                                  const char *data, size_t length)
{
    struct node_wire *wire = &visit->outpost->wire;
    const uint32_t channel = visit->channel;
    struct error err = ERROR_INIT;

    if (!visit->copy.directory)
        return;
    if (outpost_copy_take(&visit->copy, type, data, length, &err) < 0)
        node_wire_fail(wire, "it has sent what is no file");
    else if (type != NODE_COPIED)
        node_wire_give_credit(wire, channel, length);
}

/* Its beginning */

static struct outpost_visit *outpost_visit_new(struct outpost *outpost, uint32_t channel,
                                               uint32_t environment)
{
    struct outpost_visit *visit = NEW(struct outpost_visit);

    visit->outpost = outpost;
    visit->channel = channel;
    visit->number = environment;
    visit->waiter.progress = outpost_visit_on_step;
    visit->waiter.prepared = outpost_visit_on_prepared;
    visit->listener.began = outpost_visit_on_began;
    visit->listener.output = outpost_visit_on_output;
    visit->listener.ended = outpost_visit_on_ended;
    visit->credit = NODE_WINDOW_BYTES;
    visit->input = -1;
    list_init(&visit->waiter.link);
    buffer_init(&visit->unsaid, OUTPOST_UNSAID_BYTES);
    buffer_init(&visit->cells, OUTPOST_CELLS_BYTES);
    ev_timer_init(&visit->deadline, outpost_visit_on_deadline, 0., 0.);
    ev_timer_init(&visit->ending, outpost_visit_on_ending, OUTPOST_SIGNAL_SECONDS, 0.);
    ev_init(&visit->reading, outpost_visit_on_answer);
    ev_init(&visit->writing, outpost_visit_on_writable);
    list_append(&outpost->visits, &visit->link);
    return visit;
}

void outpost_visit_prepare(struct outpost *outpost, uint32_t channel, json_t *message)
{
    const json_int_t number = json_integer_value(json_object_get(message, "environment"));

    outpost_visit_begin(outpost_visit_new(outpost, channel, (uint32_t)number));
    json_decref(message);
}

void outpost_visit_start(struct outpost *outpost, uint32_t channel, json_t *message)
{
    struct node_request request;
    const bool is_right = node_request_read(&request, message);
    struct error err = ERROR_INIT;
    struct outpost_visit *visit = outpost_visit_new(outpost, channel, request.environment);

    visit->executes = true;
    visit->request = request;
    if (!is_right || request.code_length > NODE_CODE_BYTES) {
        outpost_visit_fail(visit, "the node has not understood what to execute");
        return;
    }
    visit->code = memory_new(request.code_length + 1, 1);
    if (outpost_visit_open_copy(visit, &err) < 0)
        outpost_visit_fail_by(visit, &err);
    else
        outpost_visit_begin_whole(visit);
}

static void outpost_visit_on_code(struct outpost_visit *visit, const char *data, size_t length)
{
    const size_t wanted = visit->executes ? visit->request.code_length - visit->code_count : 0;

    if (length == 0 || length > wanted)
        return;
    memcpy(visit->code + visit->code_count, data, length);
    visit->code_count += length;
    outpost_visit_begin_whole(visit);
}

/* Files that have not come back by then stay here, and are removed. Without an execution nothing of
 * it has run. */
static void outpost_visit_kill(struct outpost_visit *visit)
{
    struct process_end end = {.killed = true, .returncode = -SIGKILL};

    if (visit->execution) {
        visit->execution->kill(visit->execution);
        return;
    }
    if (visit->end) {
        outpost_copy_cancel(&visit->copy);
        outpost_visit_end(visit, STEAL_PTR(visit->end));
        return;
    }
    environment_forget_waiter(&visit->waiter);
    outpost_visit_end(visit, node_end_write(&end));
}

static struct outpost_visit *outpost_visit_find(const struct outpost *outpost, uint32_t channel)
{
    LIST_FOR_EACH (&outpost->visits, link) {
        struct outpost_visit *visit = CONTAINER_OF(link, struct outpost_visit, link);

        if (visit->channel == channel)
            return visit;
    }
    return NULL;
}

static void outpost_visit_on_credit(struct outpost_visit *visit, size_t length)
{
    visit->credit += length;
    outpost_visit_say_all(visit);
    if (!visit->is_over)
        outpost_copy_go_on(&visit->copy);
    else
        outpost_visit_settle(visit);
}

static void outpost_visit_take(struct outpost_visit *visit, enum node_frame type, const char *data,
                               size_t length)
{
    if (type == NODE_CODE)
        outpost_visit_on_code(visit, data, length);
    else if (type == NODE_CELLS)
        outpost_visit_on_cells(visit, data, length);
    else if (type >= NODE_ENTRY && type <= NODE_COPIED)
        outpost_visit_on_file(visit, type, data, length);
    else if (type == NODE_INTERRUPT && visit->execution)
        visit->execution->interrupt(visit->execution);
    else if (type == NODE_KILL)
        outpost_visit_kill(visit);
}

/* A frame behind the end of its channel was sent before the server knew. */
void outpost_visit_frame(struct outpost *outpost, enum node_frame type, uint32_t channel,
                         const char *data, size_t length)
{
    struct outpost_visit *visit = outpost_visit_find(outpost, channel);

    if (!visit)
        return;
    if (type == NODE_CREDIT)
        outpost_visit_on_credit(visit, node_wire_take_credit(data));
    else if (!visit->is_over)
        outpost_visit_take(visit, type, data, length);
}

void outpost_visits_stop(struct outpost *outpost)
{
    LIST_FOR_EACH_SAFE (&outpost->visits, link) {
        struct outpost_visit *visit = CONTAINER_OF(link, struct outpost_visit, link);

        visit->is_mute = true;
        buffer_consume(&visit->unsaid, buffer_length(&visit->unsaid));
        if (visit->execution) {
            outpost_visit_hold(visit, false);
            visit->execution->kill(visit->execution);
        } else {
            outpost_visit_free(visit);
        }
    }
}
