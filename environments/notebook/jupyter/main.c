/* pyexecd-jupyter INTERPRETER KERNEL: executes the cells of a session in a Jupyter kernel.
 *
 * It is the program of the session, in the place of driver.py, and so lives in the same sandbox or
 * container as the kernel: a hostile message can harm only its own session. Cells come over
 * standard input, a socket, as they come to driver.py, and one byte goes back for each of them.
 *
 *     STARTING -> RESTING -> WORKING -> RESTING ...
 *
 * A cell has ended when the kernel has answered it and has then said that it is idle: all output of
 * the cell came before. */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "environments/notebook/jupyter/channels.h"
#include "environments/notebook/jupyter/child.h"
#include "environments/notebook/jupyter/display.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

/* No script of the machine's /dev/shm sees it: every tree and every container has its own. */
#define JUPYTER_PARENT "/dev/shm"

enum {
    JUPYTER_TURN = 64,       /* messages that are taken before signals are looked at again */
    JUPYTER_ASK_MS = 500,    /* after which a kernel is asked again whether it is there */
    JUPYTER_QUIET_MS = 5000, /* after which a kernel that has answered is taken for idle */
    JUPYTER_LAST_MS = 200,   /* for messages that a kernel has sent before its end */
    JUPYTER_HEAD = 24,       /* bytes of the line before a cell */
};

enum jupyter_state {
    JUPYTER_STARTING, /* waits for the kernel to answer, and to be heard on iopub */
    JUPYTER_RESTING,  /* waits for a cell */
    JUPYTER_WORKING,  /* waits for its end */
};

struct jupyter {
    const char *name;
    enum jupyter_state state;
    struct jupyter_channels channels;
    struct jupyter_child child;
    struct jupyter_display display;
    struct jupyter_request request; /* that has been sent last */
    bool has_reply;                 /* to it */
    bool is_idle;                   /* after it */
    bool is_heard;                  /* a message has come on iopub */
    int status;                     /* of the cell */
    int cells;                      /* the socket */
    int signals;
};

static _Noreturn void jupyter_fail(const struct jupyter *jupyter, const char *why)
{
    jupyter_display_say(STDERR_FILENO, "pyexecd: Jupyter kernel %s: %s", jupyter->name, why);
    exit(EXIT_FAILURE);
}

static void jupyter_ask(struct jupyter *jupyter, enum jupyter_channel channel, const char *type,
                        json_t *content /* taken */)
{
    jupyter_request_deinit(&jupyter->request);
    jupyter_request_init(&jupyter->request, &jupyter->channels.key, jupyter->channels.session, type,
                         content);
    jupyter->has_reply = false;
    jupyter->is_idle = false;
    jupyter_channels_send(&jupyter->channels, channel, &jupyter->request);
    json_decref(content);
}

static void jupyter_ask_whether_there(struct jupyter *jupyter)
{
    jupyter_ask(jupyter, JUPYTER_SHELL, "kernel_info_request", json_object());
}

/* Cells */

static void jupyter_read(struct jupyter *jupyter, char *data, size_t length)
{
    while (length > 0) {
        ssize_t count = read(jupyter->cells, data, length);

        if (count == 0 || (count < 0 && errno != EINTR))
            exit(EXIT_SUCCESS); /* the session is over */
        data += count > 0 ? count : 0;
        length -= count > 0 ? (size_t)count : 0;
    }
}

static size_t jupyter_read_head(struct jupyter *jupyter)
{
    char head[JUPYTER_HEAD] = "";
    size_t length = 0;

    do
        jupyter_read(jupyter, &head[length], 1);
    while (head[length] != '\n' && ++length < sizeof head - 1);
    head[length] = '\0';
    return strtoul(head, NULL, 10);
}

static void jupyter_begin_cell(struct jupyter *jupyter)
{
    size_t length = jupyter_read_head(jupyter);
    AUTO_FREE char *code = memory_new(length + 1, 1);

    jupyter_read(jupyter, code, length);
    jupyter_display_begin(&jupyter->display);
    jupyter->status = EXIT_FAILURE;
    jupyter->state = JUPYTER_WORKING;
    jupyter_ask(jupyter, JUPYTER_SHELL, "execute_request",
                json_pack("{s:o, s:b, s:b, s:{}, s:b, s:b}", "code",
                          json_string_repaired(code, length), "silent", 0, "store_history", 1,
                          "user_expressions", "allow_stdin", 0, "stop_on_error", 1));
}

static void jupyter_end_cell(struct jupyter *jupyter)
{
    const char status = (char)jupyter->status;

    jupyter->state = JUPYTER_RESTING;
    jupyter->has_reply = false;
    jupyter_request_deinit(&jupyter->request);
    if (jupyter->channels.bad > 0)
        jupyter_display_say(
            STDERR_FILENO,
            "pyexecd: %lu messages of the kernel were dropped: not signed, or no messages",
            jupyter->channels.bad);
    jupyter->channels.bad = 0;
    (void)!write(jupyter->cells, &status, 1);
}

/* Messages */

static void jupyter_take_stream(struct jupyter *jupyter, const json_t *content)
{
    const char *name = json_object_get_string(content, "name");

    (void)jupyter;
    jupyter_display_print(name && strcmp(name, "stderr") == 0 ? STDERR_FILENO : STDOUT_FILENO,
                          json_object_get(content, "text"));
}

static void jupyter_take_data(struct jupyter *jupyter, const json_t *content)
{
    jupyter_display_show(&jupyter->display, json_object_get(content, "data"));
}

static void jupyter_take_error(struct jupyter *jupyter, const json_t *content)
{
    const char *name = json_object_get_string(content, "ename");
    const char *value = json_object_get_string(content, "evalue");
    const json_t *traceback = json_object_get(content, "traceback");
    const json_t *line;
    size_t i;

    (void)jupyter;
    json_array_foreach (traceback, i, line)
        if (json_is_string(line))
            jupyter_display_say(STDERR_FILENO, "%s", json_string_value(line));
    if (json_array_size(traceback) == 0 && (name || value))
        jupyter_display_say(STDERR_FILENO, "%s%s%s", text_or_none(name), name && *name ? ": " : "",
                            text_or_none(value));
}

static const struct {
    const char *type;
    void (*take)(struct jupyter *jupyter, const json_t *content);
} jupyter_takers[] = {
    {"stream", jupyter_take_stream},     {"execute_result", jupyter_take_data},
    {"display_data", jupyter_take_data}, {"update_display_data", jupyter_take_data},
    {"error", jupyter_take_error},
};

/* Takes output of any cell: threads of an earlier cell print into the present one. */
static void jupyter_take_news(struct jupyter *jupyter, const struct jupyter_message *message)
{
    const char *state = json_object_get_string(message->content, "execution_state");

    jupyter->is_heard = true;
    if (strcmp(message->type, "status") == 0 && state && strcmp(state, "idle") == 0 &&
        jupyter_message_answers(message, &jupyter->request))
        jupyter->is_idle = true;
    for (size_t i = 0; i < ARRAY_SIZE(jupyter_takers); i++)
        if (strcmp(message->type, jupyter_takers[i].type) == 0)
            jupyter_takers[i].take(jupyter, message->content);
}

/* Shows the output of `object?` and the like. */
static void jupyter_show_pages(struct jupyter *jupyter, const json_t *payload)
{
    const json_t *page;
    size_t i;

    json_array_foreach (payload, i, page) {
        const char *source = json_object_get_string(page, "source");

        if (source && strcmp(source, "page") == 0)
            jupyter_take_data(jupyter, page);
    }
}

static void jupyter_take_reply(struct jupyter *jupyter, const struct jupyter_message *message)
{
    const char *status = json_object_get_string(message->content, "status");

    if (!jupyter_message_answers(message, &jupyter->request))
        return;
    jupyter->has_reply = true;
    if (jupyter->state != JUPYTER_WORKING)
        return;
    jupyter->status = status && strcmp(status, "ok") == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    jupyter_show_pages(jupyter, json_object_get(message->content, "payload"));
}

/* True when there may be more. */
static bool jupyter_take(struct jupyter *jupyter, enum jupyter_channel channel)
{
    struct jupyter_message message;

    for (int i = 0; i < JUPYTER_TURN; i++) {
        enum jupyter_arrival arrival =
            jupyter_channels_receive(&jupyter->channels, channel, &message);

        if (arrival == JUPYTER_NOTHING)
            return false;
        if (arrival == JUPYTER_DROPPED)
            continue;
        if (channel == JUPYTER_IOPUB)
            jupyter_take_news(jupyter, &message);
        else if (channel == JUPYTER_SHELL)
            jupyter_take_reply(jupyter, &message);
        jupyter_message_deinit(&message);
    }
    return true;
}

/* Signals */

static void jupyter_interrupt(struct jupyter *jupyter)
{
    struct jupyter_request interrupt;
    AUTO_JSON json_t *nothing = json_object();

    if (jupyter->state == JUPYTER_STARTING)
        jupyter_fail(jupyter,
                     jupyter->channels.bad > 0
                         ? "it has not started: what it has sent is not signed as it should"
                         : "it has not started: it has not answered yet");
    if (jupyter->state != JUPYTER_WORKING)
        return;
    if (!jupyter->child.takes_messages) {
        jupyter_child_interrupt(&jupyter->child);
        return;
    }
    jupyter_request_init(&interrupt, &jupyter->channels.key, jupyter->channels.session,
                         "interrupt_request", nothing);
    jupyter_channels_send(&jupyter->channels, JUPYTER_CONTROL, &interrupt);
    jupyter_request_deinit(&interrupt);
}

/* Ends as the kernel has. */
static _Noreturn void jupyter_end(struct jupyter *jupyter, int status)
{
    zmq_pollitem_t item = {.socket = jupyter->channels.sockets[JUPYTER_IOPUB],
                           .events = ZMQ_POLLIN};
    sigset_t all;

    while (zmq_poll(&item, 1, JUPYTER_LAST_MS) > 0)
        (void)jupyter_take(jupyter, JUPYTER_IOPUB);
    if (jupyter->state == JUPYTER_STARTING)
        jupyter_fail(jupyter, "it has ended before it was ready");
    if (WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        sigfillset(&all);
        sigprocmask(SIG_UNBLOCK, &all, NULL);
        kill(getpid(), WTERMSIG(status));
    }
    _exit(WEXITSTATUS(status));
}

static void jupyter_take_signals(struct jupyter *jupyter)
{
    struct signalfd_siginfo what;
    int status;

    while (read(jupyter->signals, &what, sizeof what) == sizeof what)
        if (what.ssi_signo == SIGINT)
            jupyter_interrupt(jupyter);
    if (jupyter_child_has_ended(&jupyter->child, &status))
        jupyter_end(jupyter, status);
}

/* The loop */

static void jupyter_step(struct jupyter *jupyter, bool was_quiet)
{
    switch (jupyter->state) {
    case JUPYTER_STARTING:
        if (jupyter->has_reply && jupyter->is_heard)
            jupyter->state = JUPYTER_RESTING;
        else if (was_quiet && jupyter->has_reply)
            jupyter_ask_whether_there(jupyter); /* its words have come before we could hear them */
        break;
    case JUPYTER_WORKING:
        if (jupyter->has_reply && (jupyter->is_idle || was_quiet))
            jupyter_end_cell(jupyter);
        break;
    case JUPYTER_RESTING:
        break;
    }
}

static int jupyter_patience(const struct jupyter *jupyter)
{
    if (jupyter->state == JUPYTER_STARTING)
        return JUPYTER_ASK_MS;
    return jupyter->state == JUPYTER_WORKING && jupyter->has_reply ? JUPYTER_QUIET_MS : -1;
}

static void jupyter_turn(struct jupyter *jupyter)
{
    zmq_pollitem_t items[JUPYTER_CHANNELS + 2] = {
        [JUPYTER_CHANNELS] = {.fd = jupyter->signals, .events = ZMQ_POLLIN},
        [JUPYTER_CHANNELS + 1] = {.fd = jupyter->cells, .events = ZMQ_POLLIN},
    };
    int count = JUPYTER_CHANNELS + (jupyter->state == JUPYTER_RESTING ? 2 : 1);
    int came;

    for (enum jupyter_channel i = 0; i < JUPYTER_CHANNELS; i++)
        items[i] = (zmq_pollitem_t){.socket = jupyter->channels.sockets[i], .events = ZMQ_POLLIN};
    came = zmq_poll(items, count, jupyter_patience(jupyter));
    if (items[JUPYTER_CHANNELS].revents)
        jupyter_take_signals(jupyter);
    for (enum jupyter_channel i = 0; i < JUPYTER_CHANNELS; i++)
        if (items[i].revents)
            (void)jupyter_take(jupyter, i);
    jupyter_step(jupyter, came == 0);
    if (items[JUPYTER_CHANNELS + 1].revents)
        jupyter_begin_cell(jupyter);
}

/* The socket is not the kernel's; its input is none. */
static void jupyter_take_input(struct jupyter *jupyter)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

    jupyter->cells = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (jupyter->cells < 0 || null < 0 || dup2(null, STDIN_FILENO) < 0)
        jupyter_fail(jupyter, "its input is missing");
    close(null);
}

static void jupyter_watch_signals(struct jupyter *jupyter)
{
    sigset_t watched;

    sigemptyset(&watched);
    sigaddset(&watched, SIGINT);
    sigaddset(&watched, SIGCHLD);
    sigprocmask(SIG_BLOCK, &watched, NULL);
    jupyter->signals = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
    if (jupyter->signals < 0)
        jupyter_fail(jupyter, "its signals cannot be watched");
}

static void jupyter_start(struct jupyter *jupyter, const char *interpreter)
{
    struct error err = ERROR_INIT;

    jupyter->display.directory = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    jupyter_take_input(jupyter);
    jupyter_watch_signals(jupyter);
    if (jupyter_channels_open(&jupyter->channels, JUPYTER_PARENT, jupyter->name, &err) < 0 ||
        jupyter_child_start(&jupyter->child, interpreter, jupyter->name,
                            jupyter->channels.connection, &err) < 0)
        jupyter_fail(jupyter, err.message);
    jupyter_ask_whether_there(jupyter);
}

int main(int argc, char **argv)
{
    struct jupyter jupyter = {0};

    if (argc != 3)
        return EXIT_FAILURE;
    json_require_memory();
    jupyter.name = argv[2];
    jupyter_start(&jupyter, argv[1]);
    for (;;)
        jupyter_turn(&jupyter);
}
