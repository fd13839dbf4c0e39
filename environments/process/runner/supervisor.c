#include "environments/process/runner/supervisor.h"

#include "base/clock.h"
#include "base/descriptors.h"
#include "base/holdings.h"
#include "base/memory.h"
#include "base/python_helpers.h"
#include "base/starter/starter.h"
#include "environments/process/runner/copies.h"
#include "environments/process/runner/descendants.h"
#include "environments/process/runner/identity.h"
#include "environments/process/runner/left_files.h"
#include "environments/process/runner/message.h"
#include "environments/process/runner/process_stat.h"
#include "environments/process/runner/program.h"
#include "environments/process/runner/runner.h"
#include "environments/process/runner/script.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SUPERVISOR_KILL_SECONDS 1.9 /* less than the server waits for an empty tree */

enum {
    LOOK_MILLISECONDS = 1, /* between two rounds of killing, since processes may have forked */
    LATE_MILLISECONDS = 100,
    LATE_SHARE = 10, /* it rests this many times as long as it works */
    SUPERVISOR_WATCHED = 4,
    KEEPER_LOOKS = 20,
    KEEPER_PAUSE_NANOSECONDS = 50 * 1000,
};

struct supervisor {
    const struct runner_preparation *preparation;
    const struct program_start *way; /* to start the program */
    struct program command;          /* the program to run */
    pid_t program;                   /* 0: not started */
    pid_t keeper;                    /* of the program; 0: it has none, or has ended */
    int signals;                     /* signalfd of SIGCHLD */
    int start;       /* end-of-file when the program was executed, else a text; -1: has been read */
    bool failed;     /* the program was not executed */
    int gate;        /* where a program waits that was started ahead of its code; or -1 */
    bool is_waiting; /* the program waits at the gate */
    int status;      /* of the program, as wait(2) has it */
    double ended;    /* when the program ended; 0: it has not */
    uint64_t disk_limit;   /* of deleted files that are open; 0: none */
    uint64_t memory_limit; /* of all processes together; 0: none, or a cgroup has it */
    double next_look;      /* at memory and files; 0: no look is needed, or possible */
    double next_flush;     /* when the program is told to flush; 0: it has no starter */
    uint32_t exceeded;     /* of enum control_exceeded */
    bool is_killing;       /* the program has ended, and the remaining processes are killed */
    uint32_t leftovers;    /* processes killed so, without those in `helpers` */
    struct python_helpers helpers; /* that were left when the program had ended */
    struct copies copies;          /* of the program */
};

/* True when no child is left. */
static bool supervisor_reap(struct supervisor *supervisor)
{
    struct signalfd_siginfo ignored;
    struct rusage usage;
    int status;
    pid_t pid;

    (void)!read(supervisor->signals, &ignored, sizeof ignored); /* several may have become one */
    while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0) {
        if (pid == supervisor->keeper) {
            supervisor->keeper = 0;
            continue;
        }
        supervisor->leftovers += supervisor->is_killing && WIFSIGNALED(status) &&
                                 WTERMSIG(status) == SIGKILL &&
                                 !python_helpers_have(&supervisor->helpers, pid);
        if (pid != supervisor->program) {
            copies_note_end(&supervisor->copies, pid, status, &usage);
            continue;
        }
        supervisor->status = status;
        supervisor->ended = clock_seconds();
    }
    return pid < 0 && errno == ECHILD;
}

/* Pid 1 reaches all processes at once. Without a PID namespace they are stopped first, so that none
 * forks while it is being killed; the children of each dead process become ours. */
static void kill_all(const struct supervisor *supervisor)
{
    if (supervisor->preparation->layers & LAYER_PID_NAMESPACE) {
        kill(-1, SIGKILL);
        return;
    }
    signal_descendants(SIGSTOP);
    signal_descendants(SIGKILL);
}

static bool supervisor_children_are(pid_t parent, const char *wanted)
{
    char path[64];
    char text[64] = "";
    ssize_t length = -1;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)parent, (int)parent);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        length = read(fd, text, sizeof text - 1);
        close(fd);
    }
    return length >= 0 && strcmp(text, wanted) == 0;
}

/* True if no process is left but the keeper, which is over. The program can have made of it
 * whatever it likes, also a parent of other processes. A process becomes our child when its parent
 * has ended, so we look at the children of the keeper first. */
static bool supervisor_has_nothing_but_keeper(const struct supervisor *supervisor)
{
    char keeper[32];

    snprintf(keeper, sizeof keeper, "%d ", (int)supervisor->keeper);
    return supervisor_children_are(supervisor->keeper, "") &&
           supervisor_children_are(getpid(), keeper);
}

/* Kills the keeper. A process that is killed starts no other and no thread any more. False when the
 * keeper is not over in time. */
static bool supervisor_end_keeper(const struct supervisor *supervisor)
{
    const struct timespec pause = {.tv_nsec = KEEPER_PAUSE_NANOSECONDS};

    kill(supervisor->keeper, SIGKILL);
    for (int i = 0; i < KEEPER_LOOKS; i++) {
        if (process_stat_read(supervisor->keeper).is_over)
            return true;
        nanosleep(&pause, NULL);
    }
    return false;
}

/* True when no process runs any more. The memory of the keeper goes with the namespace. */
static bool supervisor_is_left_with_keeper(const struct supervisor *supervisor)
{
    return supervisor->keeper && supervisor->preparation->layers & LAYER_PID_NAMESPACE &&
           supervisor_end_keeper(supervisor) && supervisor_has_nothing_but_keeper(supervisor);
}

static bool empty_tree(struct supervisor *supervisor)
{
    double deadline = clock_seconds() + SUPERVISOR_KILL_SECONDS;
    bool is_alone = supervisor_reap(supervisor);

    /* All processes in a PID namespace descend from its pid 1. If none were left, kill(-1) would
     * make the kernel look at every process of the machine. */
    if (is_alone && supervisor->preparation->layers & LAYER_PID_NAMESPACE)
        return true;
    if (supervisor->ended > 0 && supervisor_is_left_with_keeper(supervisor))
        return true;
    if (!is_alone)
        python_helpers_find(&supervisor->helpers);
    supervisor->is_killing = supervisor->ended > 0;
    do {
        struct pollfd child = {.fd = supervisor->signals, .events = POLLIN};

        kill_all(supervisor);
        if (supervisor_reap(supervisor))
            return true;
        poll(&child, 1, LOOK_MILLISECONDS);
    } while (clock_seconds() < deadline);
    return false;
}

static void tell_end(const struct supervisor *supervisor, bool is_empty)
{
    struct control_ended ended = {.time = supervisor->ended,
                                  .status = supervisor->status,
                                  .exceeded = supervisor->exceeded,
                                  .is_empty = is_empty &&
                                              supervisor->preparation->layers & LAYER_PID_NAMESPACE,
                                  .leftovers = supervisor->leftovers};
    struct rusage usage; /* of all processes that were waited for, not of the program alone */

    getrusage(RUSAGE_CHILDREN, &usage);
    ended.cpu_seconds = clock_seconds_of(usage.ru_utime) + clock_seconds_of(usage.ru_stime);
    ended.peak_bytes = (uint64_t)usage.ru_maxrss * 1024;
    message_send(CONTROL_ENDED, &ended, sizeof ended);
}

/* The server waits no more and may be gone, but only we can end the remaining processes. A look at
 * many processes takes long, and so is rare. */
static void empty_tree_late(struct supervisor *supervisor)
{
    double look;

    do {
        double began = clock_seconds();

        kill_all(supervisor);
        look = clock_seconds() - began;
        poll(NULL, 0, LATE_MILLISECONDS + (int)(look * 1e3 * LATE_SHARE));
    } while (!supervisor_reap(supervisor));
}

/* True when the program has succeeded, and what it has in /tmp goes with the tree. */
static bool supervisor_has_own_files(const struct supervisor *supervisor)
{
    return supervisor->preparation->layers & LAYER_ROOT && WIFEXITED(supervisor->status) &&
           WEXITSTATUS(supervisor->status) == 0;
}

/* The one way out: kills the remaining processes, reports, and ends, which ends the PID namespace
 * as well. */
static _Noreturn void end_tree(struct supervisor *supervisor)
{
    bool is_empty = empty_tree(supervisor);

    if (supervisor->ended > 0 && !supervisor->failed) {
        if (is_empty && supervisor_has_own_files(supervisor))
            left_files_tell();
        tell_end(supervisor, is_empty);
    }
    if (is_empty && supervisor->way->end)
        supervisor->way->end();
    if (!is_empty && !(supervisor->preparation->layers & LAYER_PID_NAMESPACE))
        empty_tree_late(supervisor);
    _exit(is_empty ? 0 : 1);
}

/* Once the program runs, no process of its tree is root; before, only root could kill it. The
 * change of uid clears the signal at the death of our parent, so it is set again. */
static void supervisor_follow(const struct runner_preparation *preparation)
{
    if (!(preparation->layers & LAYER_UID))
        return;
    if (identity_take(preparation) < 0)
        _exit(1);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static void supervisor_watch(struct supervisor *supervisor)
{
    const struct control_run *run = &supervisor->command.run;

    if (run->has_starter)
        supervisor->next_flush = clock_seconds() + STARTER_SECONDS;
    supervisor->disk_limit = run->limits.file_size;
    supervisor->memory_limit = run->limits.memory;
    if (holdings_can_look())
        supervisor->next_look = clock_seconds() + HOLDINGS_SECONDS;
}

/* The program has begun at TIME. Before its exec we could not look at it: a fork of ours is
 * undumpable, too. */
static void supervisor_tell_started(struct supervisor *supervisor, double time)
{
    const struct control_started started = {.time = time};

    supervisor_watch(supervisor);
    message_send(CONTROL_STARTED, &started, sizeof started);
}

static void tell_start(struct supervisor *supervisor)
{
    char text[256];
    ssize_t length = read(supervisor->start, text, sizeof text - 1);

    close(supervisor->start);
    supervisor->start = -1;
    if (length <= 0) {
        supervisor_follow(supervisor->preparation);
        if (supervisor->gate < 0)
            supervisor_tell_started(supervisor, clock_seconds());
        return;
    }
    text[length] = '\0';
    message_send_text(CONTROL_FAILED, text);
    supervisor->failed = true;
    end_tree(supervisor);
}

static void supervisor_on_child(struct supervisor *supervisor)
{
    (void)supervisor_reap(supervisor);
    if (supervisor->ended <= 0)
        return;
    if (supervisor->start >= 0)
        tell_start(supervisor);
    end_tree(supervisor);
}

static void supervisor_look(struct supervisor *supervisor)
{
    struct holdings holdings;
    double began = clock_seconds();

    if (supervisor->memory_limit > 0)
        holdings_look_at_all(&holdings);
    else
        holdings_look_at_files(&holdings);
    if (supervisor->disk_limit > 0 && holdings.deleted > supervisor->disk_limit)
        supervisor->exceeded = CONTROL_EXCEEDED_DISK;
    else if (supervisor->memory_limit > 0 && holdings.memory > supervisor->memory_limit)
        supervisor->exceeded = CONTROL_EXCEEDED_MEMORY;
    if (supervisor->exceeded || holdings.is_hindered)
        end_tree(supervisor);
    supervisor->next_look =
        clock_seconds() + HOLDINGS_SECONDS + HOLDINGS_SHARE * (clock_seconds() - began);
}

/* Only we reap the program, so no other process has its pid before `ended` is set. */
static void signal_program(const struct supervisor *supervisor, int number)
{
    if (supervisor->program && supervisor->ended <= 0)
        kill(supervisor->program, number);
}

static void supervisor_tell_stacks(const struct supervisor *supervisor)
{
    char text[CONTROL_STACKS_BYTES];
    size_t length = 0;

    if (supervisor->way->stacks && supervisor->program && supervisor->ended <= 0)
        length = supervisor->way->stacks(supervisor->program, text);
    if (length > 0)
        message_send(CONTROL_STACKS, text, length);
}

static void supervisor_flush(struct supervisor *supervisor)
{
    signal_program(supervisor, STARTER_SIGNAL);
    copies_signal(&supervisor->copies, STARTER_SIGNAL);
    supervisor->next_flush = clock_seconds() + STARTER_SECONDS;
}

static bool is_due(double time)
{
    return time > 0 && time <= clock_seconds();
}

static void supervisor_do_due(struct supervisor *supervisor)
{
    if (is_due(supervisor->next_look))
        supervisor_look(supervisor);
    if (is_due(supervisor->next_flush))
        supervisor_flush(supervisor);
}

static double sooner_of(double a, double b)
{
    return b <= 0 || (a > 0 && a < b) ? a : b;
}

/* Until the next look or flush is due; -1: there is none. */
static int milliseconds_to_due(const struct supervisor *supervisor)
{
    double next = sooner_of(supervisor->next_look, supervisor->next_flush);
    double left = next - clock_seconds();

    if (next <= 0)
        return -1;
    return left > 0 ? (int)(left * 1e3) + 1 : 0;
}

/* Nobody but the program may hold its streams, or their end could not be seen. */
static void leave_streams(void)
{
    dup2(STDIN_FILENO, STDOUT_FILENO);
    dup2(STDIN_FILENO, STDERR_FILENO);
}

/* The program cannot be started. */
static _Noreturn void supervisor_fail(struct supervisor *supervisor)
{
    char text[128];

    snprintf(text, sizeof text, "cannot fork: %s", strerror(errno));
    message_send_text(CONTROL_FAILED, text);
    end_tree(supervisor);
}

/* Closes descriptors that only the program may have. */
static void supervisor_close_descriptors(const struct program *program)
{
    if (program->code >= 0)
        close(program->code);
    if (program->input >= 0)
        close(program->input);
    if (program->tools >= 0)
        close(program->tools);
    if (program->outlet >= 0)
        close(program->outlet);
    if (program->gate >= 0)
        close(program->gate);
}

/* Makes the gate. The program alone gets the other end. */
static int supervisor_make_gate(struct supervisor *supervisor)
{
    int ends[2];

    if (!supervisor->command.run.is_ahead)
        return 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return -1;
    supervisor->gate = ends[0];
    supervisor->command.gate = ends[1];
    return 0;
}

static void supervisor_start(struct supervisor *supervisor)
{
    struct program *program = &supervisor->command;

    supervisor->program = supervisor_make_gate(supervisor);
    if (supervisor->program == 0)
        supervisor->program =
            supervisor->way->start(program, supervisor->preparation, &supervisor->start);
    if (supervisor->program < 0)
        supervisor_fail(supervisor);
    supervisor_close_descriptors(program);
    leave_streams();
}

/* LENGTH bytes of a CONTROL_RUN are to come; DESCRIPTORS came with it. */
static void start_program(struct supervisor *supervisor, size_t length,
                          const int descriptors[CONTROL_DESCRIPTORS])
{
    if (supervisor->program)
        _exit(1);
    message_receive_program(&supervisor->command, length, descriptors);
    supervisor_start(supervisor);
}

/* A program that is started ahead of its code has come to its gate, and has not read its script. */
static void supervisor_on_gate(struct supervisor *supervisor)
{
    struct gate_word word = {0};

    if (read(supervisor->gate, &word, sizeof word) > 0 && !supervisor->is_waiting) {
        /* Packages that were imported ahead can have written the word. */
        const bool has_keeper = word.keeper > 1 && word.keeper != supervisor->program;
        const struct control_waiting waiting = {.keepers = has_keeper};

        supervisor->is_waiting = true;
        supervisor->keeper = has_keeper ? word.keeper : 0;
        message_send(CONTROL_WAITING, &waiting, sizeof waiting);
        return;
    }
    close(supervisor->gate); /* the program ends, which is seen next */
    supervisor->gate = -1;
}

/* The program that waits gets TOOLS before its code. A Python that waits alone is warned, since it
 * takes no descriptor unless it must. */
static void supervisor_give_tools(struct supervisor *supervisor, int tools)
{
    if (!supervisor->is_waiting || tools < 0)
        _exit(1);
    if (!starter_send_tools(supervisor->gate, tools))
        end_tree(supervisor);
    close(tools);
}

/* A script that nothing is laid over has its code at its place by now. A tree that cannot run CODE
 * any more ends, and the server takes another tree. */
static void supervisor_complete(struct supervisor *supervisor, int code)
{
    if (!supervisor->command.script)
        return;
    if (code < 0)
        _exit(1);
    if (script_complete(supervisor->preparation, &supervisor->command, code) < 0)
        end_tree(supervisor);
    close(code);
}

/* Lets the program that waits go on. With the message came code, if it has a script to lay
 * over, and an input, if there is one. */
static void supervisor_let_go(struct supervisor *supervisor,
                              const int descriptors[CONTROL_DESCRIPTORS])
{
    const bool has_code = supervisor->command.script;
    const int input = descriptors[has_code];
    double time;

    if (!supervisor->is_waiting)
        _exit(1);
    supervisor_complete(supervisor, descriptors[0]);
    time = clock_seconds(); /* the program may run before we do again */
    if (descriptors_send(supervisor->gate, "", 1, &input, input >= 0) != 1)
        end_tree(supervisor);
    if (input >= 0)
        close(input);
    close(supervisor->gate);
    supervisor->gate = -1;
    supervisor_tell_started(supervisor, time);
}

/* One message of the server, or the end of the lifeline. */
static void supervisor_on_control(struct supervisor *supervisor)
{
    struct wire_head head;
    int descriptors[CONTROL_DESCRIPTORS];

    if (!message_receive_head(CONTROL_FD, &head, descriptors))
        end_tree(supervisor);
    switch (head.type) {
    case CONTROL_RUN:
        start_program(supervisor, head.length, descriptors);
        break;
    case CONTROL_CODE:
        supervisor_let_go(supervisor, descriptors);
        break;
    case CONTROL_TOOLS:
        supervisor_give_tools(supervisor, descriptors[0]);
        break;
    case CONTROL_COPY:
        copies_begin(&supervisor->copies, descriptors);
        break;
    case CONTROL_INTERRUPT:
        signal_program(supervisor, SIGINT);
        break;
    case CONTROL_STACKS:
        supervisor_tell_stacks(supervisor);
        break;
    default:
        _exit(1);
    }
}

static int watch_children(void)
{
    sigset_t all;
    sigset_t child;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    return signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
}

void supervise(const struct runner_preparation *preparation, const struct program_start *start,
               const struct program *program)
{
    struct supervisor supervisor = {
        .preparation = preparation, .way = start, .start = -1, .gate = -1};

    supervisor.signals = watch_children();
    if (supervisor.signals < 0)
        runner_refuse(NEED_ALWAYS, "signalfd");
    message_send_text(CONTROL_READY, preparation->missing);
    if (program) {
        supervisor.command = *program;
        supervisor_start(&supervisor);
    }
    for (;;) {
        struct pollfd watched[SUPERVISOR_WATCHED + COPIES_WATCHED] = {
            {.fd = CONTROL_FD, .events = POLLIN},
            {.fd = supervisor.signals, .events = POLLIN},
            {.fd = supervisor.start, .events = POLLIN}, /* ignored while -1, like the next */
            {.fd = supervisor.gate, .events = POLLIN},
        };
        const nfds_t count =
            SUPERVISOR_WATCHED + copies_watch(&supervisor.copies, watched + SUPERVISOR_WATCHED);

        /* Signals are blocked, so only the program can be the cause: it shares our uid and can
         * lower our RLIMIT_NOFILE by prlimit(2), and then poll(2) fails. */
        if (poll(watched, count, milliseconds_to_due(&supervisor)) < 0)
            end_tree(&supervisor);
        supervisor_do_due(&supervisor);
        if (watched[0].revents)
            supervisor_on_control(&supervisor);
        if (watched[2].revents && supervisor.start >= 0)
            tell_start(&supervisor);
        if (watched[3].revents && supervisor.gate >= 0)
            supervisor_on_gate(&supervisor);
        copies_look(&supervisor.copies, watched + SUPERVISOR_WATCHED, count - SUPERVISOR_WATCHED,
                    supervisor.program);
        if (watched[1].revents)
            supervisor_on_child(&supervisor);
    }
}
