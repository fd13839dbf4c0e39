#include "tests/unit/process/process_trial.h"

#include "base/cleanup.h"
#include "base/list.h"
#include "base/memory.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

double trial_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void on_output(struct process *process, enum process_stream stream, const char *data,
                      size_t length)
{
    struct process_trial *trial = CONTAINER_OF(process, struct process_trial, process);
    size_t room = PROCESS_TRIAL_KEPT_BYTES - trial->length;

    (void)stream;
    trial->bytes += length;
    if (length > room)
        length = room;
    memcpy(trial->output + trial->length, data, length);
    trial->length += length;
    if (trial->when_ready && length >= 5 && memcmp(data, "ready", 5) == 0)
        trial->when_ready(process);
}

static void on_ended(struct process *process, const struct process_end *end)
{
    struct process_trial *trial = CONTAINER_OF(process, struct process_trial, process);

    assert_false(trial->ended);
    trial->ended = true;
    trial->ended_at = trial_now();
    trial->end = *end;
    trial->missing = json_array_size(end->receipt.missing);
    ev_break(trial->loop, EVBREAK_ALL);
}

static void on_kill(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    process_kill(&CONTAINER_OF(timer, struct process_trial, kill)->process);
}

static void on_bound(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)timer;
    (void)events;
    fail_msg("a process did not end within its bound");
}

const struct process_limits trial_limits = {
    .memory = 256 << 20, .processes = 64, .file_size = 1 << 30};

int process_trial_start(struct trial_host *host, struct process_trial *trial,
                        const struct process_command *command, struct error *err)
{
    *trial = (struct process_trial){.process = {.output = on_output, .ended = on_ended},
                                    .loop = host->loop};
    return process_start(host->host, &trial->process, command, err);
}

void process_trial_wait(struct trial_host *host, struct process_trial *trial, double kill_after)
{
    ev_now_update(host->loop);
    ev_timer_init(&trial->kill, on_kill, kill_after > 0 ? kill_after : 1e6, 0.);
    ev_timer_start(host->loop, &trial->kill);
    ev_timer_init(&trial->bound, on_bound, 2 * TRIAL_SOON_SECONDS, 0.);
    ev_timer_start(host->loop, &trial->bound);
    while (!trial->ended)
        ev_run(host->loop, 0);
    ev_timer_stop(host->loop, &trial->kill);
    ev_timer_stop(host->loop, &trial->bound);
    trial->output[trial->length] = '\0';
}

const char *trial_token(void)
{
    static char text[16];

    snprintf(text, sizeof text, "%ld", 100000 + (long)getpid());
    return text;
}

/* SCRIPT with this test's token where it says TOKEN; owned by the caller. */
static char *with_token(const char *script)
{
    const char *at = strstr(script, "TOKEN");

    if (!at)
        return memory_copy_string(script);
    return memory_format("%.*s%s%s", (int)(at - script), script, trial_token(),
                         at + strlen("TOKEN"));
}

void process_trial_begin(struct trial_host *host, struct process_trial *trial,
                         const char *const *arguments)
{
    const char *const variables[] = {"PATH=/usr/bin:/bin", "MARK=yes", NULL};
    struct error err = ERROR_INIT;

    if (process_trial_start(host, trial,
                            &(struct process_command){.arguments = arguments,
                                                      .environment = variables,
                                                      .directory = "/",
                                                      .limits = trial_limits},
                            &err) < 0)
        fail_msg("%s", err.message);
}

void process_trial_execute(struct trial_host *host, struct process_trial *trial, const char *script,
                           double kill_after)
{
    AUTO_FREE char *named = with_token(script);
    const char *const arguments[] = {"/usr/bin/python3", "-I", "-S", "-c", named, NULL};

    process_trial_begin(host, trial, arguments);
    process_trial_wait(host, trial, kill_after);
}

struct trial_host *trial_host_new(unsigned layers)
{
    struct trial_host *host = NEW(struct trial_host);
    struct process_host_settings settings = {.runner_path = getenv("RUNNER"),
                                             .policy = {.wanted = layers}};
    struct error err = ERROR_INIT;

    host->loop = ev_loop_new(0);
    settings.loop = host->loop;
    host->host = process_host_new(&settings, &err);
    if (!host->host)
        fail_msg("%s", err.message);
    return host;
}

void trial_host_run_for(struct trial_host *host, double seconds)
{
    double until = trial_now() + seconds;

    while (trial_now() < until) {
        ev_run(host->loop, EVRUN_NOWAIT);
        usleep(1000);
    }
}

void trial_host_free(struct trial_host *host)
{
    process_host_stop(host->host);
    while (!process_host_is_idle(host->host))
        trial_host_run_for(host, 0.005);
    process_host_free(host->host);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child, no zombie */
    assert_int_equal(errno, ECHILD);
    ev_loop_destroy(host->loop);
    free(host);
}

void trial_host_let_spare_prepare(struct trial_host *host)
{
    trial_host_run_for(host, 0.2);
}

void run_in_child(int (*try)(void))
{
    int status = -1;
    pid_t child;

    /* What a test before this one has left would be waited for below. */
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    child = fork();
    if (child == 0) {
        alarm(200);
        _exit(try());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    while (waitpid(-1, NULL, 0) > 0) /* its trees end with it, and are left to us */
        ;
}
