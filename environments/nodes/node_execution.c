#include "environments/nodes/node_execution.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/printable.h"
#include "base/text.h"
#include "environments/interpreter/script_places.h"
#include "environments/nodes/node_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { NODE_CREDIT_BYTES = NODE_WINDOW_BYTES / 4 }; /* are given back at once */

struct node_execution {
    struct execution execution;
    struct node_stay stay;
    struct node_environment *node; /* borrowed */
    json_t *request;               /* owned, until it has a node */
    char *code;                    /* the same; or NULL */
    bool is_laid_over;             /* the code, over the script */
    char *owner;                   /* owned; or NULL */
    char **kept;                   /* owned: see node_request; or NULL */
    size_t code_length;
    json_t *title; /* owned: the name of its node; or NULL */
    size_t taken;  /* bytes of output for which no credit was given back */

    int input;                  /* owned: a copy of the request's input; -1: it has none */
    ev_io cells;                /* come from there */
    size_t credit;              /* bytes of cells that may be sent */
    struct process_usage usage; /* after the last cell */

    struct node_copy copy; /* not open where both machines have the directory */
    bool is_bringing;      /* the listener waits for `brought` */
    bool is_behind;        /* the directory is to be copied once more */

    bool is_asking;  /* its node has not said yet what it has, and has got nothing of it */
    bool is_refused; /* by the server: its node has got nothing of it */
    bool is_killed;
    json_t *end;   /* owned: what the node has said of its end; or NULL ... */
    char *failure; /* ... owned: why it has said nothing */
    ev_timer over; /* tells its end from the loop */
};

static struct node_execution *node_execution_of(struct node_stay *stay)
{
    return CONTAINER_OF(stay, struct node_execution, stay);
}

static struct ev_loop *node_execution_loop(const struct node_execution *run)
{
    return run->node->environment.loop;
}

static void node_execution_free(struct node_execution *run)
{
    struct ev_loop *loop = node_execution_loop(run);

    ev_io_stop(loop, &run->cells);
    ev_timer_stop(loop, &run->over);
    if (run->input >= 0)
        close(run->input);
    node_copy_close(&run->copy);
    json_decref(run->request);
    json_decref(run->title);
    json_decref(run->end);
    free(run->code);
    free(run->owner);
    memory_free_strings(run->kept);
    free(run->failure);
    free(run);
}

/* Its end */

/* Nobody knows more of its layers than its node had promised. */
static void node_execution_fail(const struct node_execution *run, struct process_end *end,
                                const json_t *title)
{
    node_end_fail(end, run->failure ? run->failure : "", title);
    if (!title)
        return;
    end->receipt = run->node->facts.receipt;
    end->receipt.node = title;
}

static void node_execution_on_over(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct node_execution *run = CONTAINER_OF(timer, struct node_execution, over);
    struct execution_listener *listener = run->execution.listener;
    struct process_end end;
    AUTO_JSON json_t *message = json_incref(run->end);
    AUTO_JSON json_t *title = json_incref(run->title);

    (void)loop;
    (void)events;
    if (message)
        node_end_read(&end, message, title);
    else
        node_execution_fail(run, &end, title);
    end.killed |= run->is_killed;
    end.refused = run->is_refused;
    node_execution_free(run);
    listener->ended(listener, &end);
}

static void node_execution_end(struct node_execution *run)
{
    node_copy_close(&run->copy);
    node_pool_leave(&run->stay);
    ev_io_stop(node_execution_loop(run), &run->cells);
    ev_timer_start(node_execution_loop(run), &run->over);
}

/* Its node has done what an honest one cannot. */
static void node_execution_blame(struct node_execution *run, const char *why)
{
    if (run->request)
        run->failure = memory_copy_string(why);
    else
        run->failure =
            memory_format("node %s has failed: %s. The run is not started again by itself",
                          json_string_value(run->title), why);
    node_execution_end(run);
}

static void node_execution_on_lost(struct node_stay *stay, const char *why)
{
    struct node_execution *run = node_execution_of(stay);

    if (run->execution.is_starting && !run->title)
        run->failure = memory_copy_string(why);
    else
        run->failure = memory_format(
            "%s.%s The run is not started again by itself", why,
            node_copy_is_returning(&run->copy) ? " A part of its files has come back." : "");
    node_execution_end(run);
}

/* Cells */

/* The next cell is not sent before the last one has been answered. */
static void node_execution_pass_cells(struct node_execution *run)
{
    struct ev_loop *loop = node_execution_loop(run);
    char bytes[NODE_PIECE_BYTES];
    const ssize_t count =
        recv(run->input, bytes, size_min(run->credit, sizeof bytes), MSG_DONTWAIT);

    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (count <= 0) {
        ev_io_stop(loop, &run->cells); /* the process that has closed it ends the session, too */
        return;
    }
    run->credit -= (size_t)count;
    if (run->credit == 0)
        ev_io_stop(loop, &run->cells);
    node_stay_send(&run->stay, NODE_CELLS, bytes, (size_t)count);
}

static void node_execution_on_cells(struct ev_loop *loop, ev_io *watcher, int events)
{
    if (events & EV_ERROR)
        ev_io_stop(loop, watcher);
    else
        node_execution_pass_cells(CONTAINER_OF(watcher, struct node_execution, cells));
}

static void node_execution_on_credit(struct node_execution *run, size_t length)
{
    if (length > NODE_WINDOW_BYTES - run->credit) {
        node_execution_blame(run, "it gives back more than it was sent");
        return;
    }
    run->credit += length;
    if (node_copy_is_open(&run->copy))
        node_copy_go_on(&run->copy);
    if (run->input >= 0 && !run->execution.is_starting)
        ev_io_start(node_execution_loop(run), &run->cells);
}

/* The line stands beside the output of the code, as if the code could not write a file. */
static void node_execution_tell_skips(struct node_execution *run)
{
    struct execution_listener *listener = run->execution.listener;
    AUTO_FREE char *text = node_copy_tell(&run->copy);
    AUTO_FREE char *line =
        text ? memory_format("pyexecd, node %s: %s\n", json_string_value(run->title), text) : NULL;

    if (line)
        listener->output(listener, PROCESS_STDERR, line, strlen(line));
}

static void node_execution_on_cell(struct node_execution *run, const char *data, size_t length)
{
    AUTO_JSON json_t *message = json_loadb(data, length, 0, NULL);
    const unsigned char status = node_usage_read(&run->usage, message);

    if (run->input < 0) {
        node_execution_blame(run, "it has ended a cell that it was not sent");
        return;
    }
    node_execution_tell_skips(run);
    node_copy_end_cell(&run->copy);
    (void)send(run->input, &status, 1, MSG_DONTWAIT | MSG_NOSIGNAL); /* it has room */
}

/* The words of the node */

static void node_execution_on_step(struct node_execution *run, const char *data, size_t length)
{
    AUTO_JSON json_t *message = json_loadb(data, length, 0, NULL);
    const char *text = json_object_get_string(message, "text");

    if (text)
        run->stay.step(&run->stay, text);
}

static void node_execution_on_begun(struct node_execution *run)
{
    struct execution_listener *listener = run->execution.listener;

    if (!run->execution.is_starting)
        return;
    run->execution.is_starting = false;
    if (run->input >= 0)
        ev_io_start(node_execution_loop(run), &run->cells);
    listener->began(listener);
}

static void node_execution_on_output(struct node_execution *run, enum process_stream stream,
                                     const char *data, size_t length)
{
    struct execution_listener *listener = run->execution.listener;

    node_execution_on_begun(run); /* even if its node denies it: its time is limited */
    listener->output(listener, stream, data, length);
    run->taken += length;
    if (run->taken < NODE_CREDIT_BYTES)
        return;
    node_stay_give_credit(&run->stay, run->taken);
    run->taken = 0;
}

static void node_execution_on_prepared(struct node_execution *run, const char *data, size_t length)
{
    AUTO_JSON json_t *message = json_loadb(data, length, 0, NULL);

    node_facts_read(&run->node->facts, message, run->title);
}

/* A node that has got the request may execute it, whatever it says. */
static void node_execution_say_request(struct node_execution *run)
{
    node_stay_tell(&run->stay, NODE_START, STEAL_PTR(run->request));
    for (size_t done = 0; done < run->code_length; done += NODE_PIECE_BYTES)
        node_stay_send(&run->stay, NODE_CODE, run->code + done,
                       size_min(run->code_length - done, NODE_PIECE_BYTES));
    free(STEAL_PTR(run->code));
}

static void node_execution_hand_over(struct node_execution *run)
{
    json_decref(STEAL_PTR(run->end)); /* its answer to PREPARE */
    if (node_copy_is_open(&run->copy))
        node_copy_begin(&run->copy);
    else
        node_execution_say_request(run);
}

/* The copy of its directory */

static struct node_execution *node_execution_that_copies(struct node_copy *copy)
{
    return CONTAINER_OF(copy, struct node_execution, copy);
}

static void node_execution_on_listed(struct node_copy *copy)
{
    struct node_execution *run = node_execution_that_copies(copy);

    if (run->request) {
        json_object_set_new(run->request, "growth_limit", json_integer((json_int_t)copy->growth));
        json_object_set_new(run->request, "copy_limit",
                            json_integer((json_int_t)node_copy_limit(copy)));
        node_execution_say_request(run);
    }
    node_copy_go(copy);
}

static void node_execution_on_sent(struct node_copy *copy)
{
    struct node_execution *run = node_execution_that_copies(copy);

    if (run->is_behind) {
        run->is_behind = false;
        node_copy_begin(copy);
    } else if (run->is_bringing) {
        run->is_bringing = false;
        run->execution.listener->brought(run->execution.listener);
    }
}

static void node_execution_on_copy_failed(struct node_copy *copy, const char *why)
{
    struct node_execution *run = node_execution_that_copies(copy);

    node_execution_blame(run, why);
}

static void node_execution_on_files(struct node_execution *run, enum node_frame type,
                                    const char *data, size_t length)
{
    struct execution_listener *listener = run->execution.listener;

    if (!node_copy_is_open(&run->copy))
        return;
    if (run->request) {
        node_execution_blame(run, "it sends files before it has a script");
        return;
    }
    if (type == NODE_RETURN && listener->over)
        listener->over(listener);
    node_copy_take(&run->copy, type, data, length);
}

/* Its node has said what it has: that may be less than the one before it had. */
static void node_execution_on_asked(struct node_execution *run)
{
    run->is_asking = false;
    run->is_refused = run->is_laid_over && run->node->facts.delivery != SCRIPT_LAID_OVER;
    if (run->is_killed || run->is_refused || json_object_get(run->end, "failure"))
        node_execution_end(run);
    else
        node_execution_hand_over(run);
}

static void node_execution_on_ended(struct node_execution *run, const char *data, size_t length)
{
    run->end = json_loadb(data, length, 0, NULL);
    if (!run->end)
        run->failure = memory_copy_string("its node has not said how it ended");
    if (run->is_asking && run->end) {
        node_execution_on_asked(run);
        return;
    }
    node_execution_tell_skips(run);
    node_execution_end(run);
}

static void node_execution_on_frame(struct node_stay *stay, enum node_frame type, const char *data,
                                    size_t length)
{
    struct node_execution *run = node_execution_of(stay);

    switch ((unsigned)type) {
    case NODE_CREDIT:
        node_execution_on_credit(run, node_wire_take_credit(data));
        break;
    case NODE_STEP:
        node_execution_on_step(run, data, length);
        break;
    case NODE_PREPARED:
        node_execution_on_prepared(run, data, length);
        break;
    case NODE_BEGUN:
        node_execution_on_begun(run);
        break;
    case NODE_OUT:
        node_execution_on_output(run, PROCESS_STDOUT, data, length);
        break;
    case NODE_ERRORS:
        node_execution_on_output(run, PROCESS_STDERR, data, length);
        break;
    case NODE_CELL:
        node_execution_on_cell(run, data, length);
        break;
    case NODE_ENDED:
        node_execution_on_ended(run, data, length);
        break;
    case NODE_RETURN:
    case NODE_ENTRY:
    case NODE_CONTENT:
    case NODE_GONE:
    case NODE_COPIED:
        node_execution_on_files(run, type, data, length);
        break;
    default:
        break; /* a frame of the other direction */
    }
}

/* Its beginning */

bool node_execution_introduce(struct node_environment *node, struct node_stay *stay)
{
    const struct environment *environment = &node->environment;
    json_t *definition;

    if (!node_stay_introduces(stay, node->number))
        return false;
    definition = json_copy(environment->definition);
    json_object_del(definition, "node");
    json_object_del(definition, "start"); /* exposure_limit() may have changed it in the settings */
    node_stay_tell(stay, NODE_ENVIRONMENT,
                   json_pack("{s:i, s:s, s:o, s:o}", "number", (int)node->number, "name",
                             environment->name, "definition", definition, "settings",
                             node_settings_write(&environment->settings)));
    return true;
}

void node_execution_ask(const struct node_environment *node, struct node_stay *stay)
{
    node_stay_tell(stay, NODE_PREPARE, json_pack("{s:i}", "environment", (int)node->number));
}

static void node_execution_on_step_text(struct node_stay *stay, const char *text)
{
    struct execution_listener *listener = node_execution_of(stay)->execution.listener;
    struct preparation_step step = {.fraction = -1};

    snprintf(step.text, sizeof step.text, "%s", text);
    printable_clean(step.text);
    if (listener->step)
        listener->step(listener, &step);
}

static void node_execution_on_granted(struct node_stay *stay)
{
    struct node_execution *run = node_execution_of(stay);

    run->title = json_incref((json_t *)node_stay_title(stay));
    run->is_asking = node_execution_introduce(run->node, stay);
    if (run->is_asking)
        node_execution_ask(run->node, stay);
    else
        node_execution_hand_over(run);
}

/* An interrupt is of the cell whose code, or a part of it, has come before. */
static void interrupt_node(struct execution *execution)
{
    struct node_execution *run = CONTAINER_OF(execution, struct node_execution, execution);

    if (ev_is_active(&run->cells))
        node_execution_pass_cells(run);
    if (run->stay.node)
        node_stay_send(&run->stay, NODE_INTERRUPT, NULL, 0);
}

/* An execution of which no node knows has not begun, and is over at once. */
static void kill_node(struct execution *execution)
{
    struct node_execution *run = CONTAINER_OF(execution, struct node_execution, execution);

    if (run->is_killed || ev_is_active(&run->over))
        return;
    run->is_killed = true;
    if (run->stay.node && (run->is_asking || !run->request))
        node_stay_send(&run->stay, NODE_KILL, NULL, 0);
    else
        node_execution_end(run);
}

/* Nothing to do: the end of a cell is reported after all its output. */
static void drain_node(struct execution *execution)
{
    (void)execution;
}

/* A copy that has begun already may lack what was put into the directory meanwhile. */
static void bring_to_node(struct execution *execution)
{
    struct node_execution *run = CONTAINER_OF(execution, struct node_execution, execution);

    if (!node_copy_is_open(&run->copy))
        return; /* it is ending */
    run->is_bringing = true;
    if (run->copy.sending.state == NODE_SENDING_RESTING)
        node_copy_begin(&run->copy);
    else
        run->is_behind = true;
}

static struct process_usage measure_node(struct execution *execution)
{
    return CONTAINER_OF(execution, struct node_execution, execution)->usage;
}

static int node_execution_take_input(struct node_execution *run, int input, struct error *err)
{
    if (input <= 0)
        return 0;
    run->input = fcntl(input, F_DUPFD_CLOEXEC, 0);
    if (run->input < 0)
        return error_set_errno(err, errno, "cannot copy the socket of the session");
    ev_io_set(&run->cells, run->input, EV_READ);
    return 0;
}

/* A reload may change what the environment keeps. */
static void node_execution_take_kept(struct node_execution *run,
                                     const struct execution_request *request)
{
    const struct script_places *kept = run->node->environment.kept;
    AUTO_FREE char *around = memory_format("%s/", request->directory);
    char *const *paths = kept && request->isolation != ISOLATION_NONE ? kept->paths : NULL;
    size_t count = 0;

    for (char *const *path = paths; path && *path; path++) {
        if (!text_starts_with(*path, around))
            continue;
        run->kept = memory_resize(run->kept, (count + 2) * sizeof *run->kept);
        run->kept[count++] = memory_copy_string(*path + strlen(around));
        run->kept[count] = NULL;
    }
}

static int node_execution_take_directory(struct node_execution *run,
                                         const struct execution_request *request, struct error *err)
{
    if (!node_pool_has_copies(run->node->pool))
        return 0;
    run->copy.loop = node_execution_loop(run);
    run->copy.stay = &run->stay;
    run->copy.credit = &run->credit;
    run->copy.growth = run->node->environment.settings.disk;
    run->copy.kept = run->kept;
    run->copy.listed = node_execution_on_listed;
    run->copy.sent = node_execution_on_sent;
    run->copy.failed = node_execution_on_copy_failed;
    run->execution.bring = bring_to_node;
    return node_copy_open(&run->copy, request->directory_fd, err);
}

static void node_execution_take_code(struct node_execution *run,
                                     const struct execution_request *request)
{
    const struct node_pool *pool = run->node->pool;

    const char *code = node_request_code(request, &run->code_length);

    run->is_laid_over = request->code;
    run->code = memory_new(run->code_length + 1, 1);
    if (code)
        memcpy(run->code, code, run->code_length);
    run->request = node_request_write(request, run->kept, run->node->number,
                                      node_pool_has_copies(pool) ||
                                          node_pool_has_tried(pool, request->directory));
}

static struct node_execution *node_execution_new(struct node_environment *node,
                                                 struct execution_listener *listener)
{
    struct node_execution *run = NEW(struct node_execution);

    run->execution = (struct execution){
        .listener = listener,
        .interrupt = interrupt_node,
        .drain = drain_node,
        .measure = measure_node,
        .kill = kill_node,
        .is_starting = true,
    };
    run->stay = (struct node_stay){
        .granted = node_execution_on_granted,
        .step = node_execution_on_step_text,
        .frame = node_execution_on_frame,
        .lost = node_execution_on_lost,
    };
    run->node = node;
    run->input = -1;
    run->copy.directory = -1;
    run->credit = NODE_WINDOW_BYTES;
    ev_init(&run->cells, node_execution_on_cells);
    ev_timer_init(&run->over, node_execution_on_over, 0., 0.);
    return run;
}

struct execution *node_execution_start(struct node_environment *node,
                                       const struct execution_request *request,
                                       struct execution_listener *listener, struct error *err)
{
    struct node_execution *run = node_execution_new(node, listener);

    node_execution_take_kept(run, request);
    if (node_execution_take_input(run, request->input, err) < 0 ||
        node_execution_take_directory(run, request, err) < 0) {
        node_execution_free(run);
        return NULL;
    }
    node_execution_take_code(run, request);
    run->owner = request->owner ? memory_copy_string(request->owner) : NULL;
    run->stay.owner = run->owner;
    if (node_pool_enter(node->pool, &run->stay))
        node_execution_on_granted(&run->stay);
    return &run->execution;
}
