#include "base/memory.h"
#include "scratch.h"
#include "workbench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <sys/stat.h>

#define BOUND_SECONDS 100.0

int workbench_setup(void **state)
{
    struct workbench *bench = NEW(struct workbench);
    struct process_host_settings settings = {.runner_path = getenv("RUNNER"),
                                             .policy = {.wanted = LAYERS_OF_TREES}};
    struct error err = ERROR_INIT;

    bench->loop = ev_loop_new(0);
    settings.loop = bench->loop;
    bench->host = process_host_new(&settings, &err);
    if (!bench->host)
        fail_msg("%s", err.message);
    bench->scratch = scratch_new();
    *state = bench;
    return 0;
}

int workbench_teardown(void **state)
{
    struct workbench *bench = *state;

    process_host_stop(bench->host);
    while (!process_host_is_idle(bench->host))
        ev_run(bench->loop, EVRUN_ONCE);
    process_host_free(bench->host);
    ev_loop_destroy(bench->loop);
    scratch_free(bench->scratch);
    free(bench);
    return 0;
}

static void on_bound(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)timer;
    (void)events;
    fail_msg("not done within %g seconds", BOUND_SECONDS);
}

void workbench_wait(struct workbench *bench, const bool *done)
{
    ev_timer bound;

    ev_now_update(bench->loop);
    ev_timer_init(&bound, on_bound, BOUND_SECONDS, 0.);
    ev_timer_start(bench->loop, &bound);
    while (!*done)
        ev_run(bench->loop, EVRUN_ONCE);
    ev_timer_stop(bench->loop, &bound);
}

char *workbench_program(struct workbench *bench, const char *name, const char *text)
{
    char *path = memory_format("%s/%s", bench->scratch, name);

    write_text(path, text);
    assert_int_equal(chmod(path, 0755), 0);
    return path;
}
