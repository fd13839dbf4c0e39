#include "base/memory.h"
#include "environments/capture.h"
#include "environments/catalog/catalog.h"
#include "session_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define BOUND_SECONDS 60.0

struct session_fixture *session_fixture_new(unsigned most, unsigned most_per_owner,
                                            double idle_seconds)
{
    struct session_fixture *sessions = NEW(struct session_fixture);

    sessions->fixture = fixture_new(&(struct fixture_settings){0});
    sessions->directory = fixture_directory(sessions->fixture);
    sessions->notebooks = notebooks_new(&(struct notebooks_settings){
        .loop = sessions->fixture->loop,
        .most = most,
        .most_per_owner = most_per_owner,
        .idle_seconds = idle_seconds,
    });
    return sessions;
}

void session_fixture_free(struct session_fixture *sessions)
{
    notebooks_stop(sessions->notebooks);
    while (!notebooks_are_idle(sessions->notebooks))
        ev_run(sessions->fixture->loop, EVRUN_ONCE);
    notebooks_free(sessions->notebooks);
    fixture_free(sessions->fixture);
    free(sessions);
}

static struct notebook *open_session(struct session_fixture *sessions,
                                     struct environment *environment, const char *owner,
                                     struct error *err)
{
    const struct notebook_request request = {
        .environment = environment,
        .directory = sessions->directory,
        .isolation = ISOLATION_NONE,
        .owner = owner,
    };

    return notebooks_open(sessions->notebooks, &request, err);
}

struct notebook *session_fixture_open(struct session_fixture *sessions, const char *owner,
                                      struct error *err)
{
    return open_session(sessions, catalog_find(sessions->fixture->catalog, "system"), owner, err);
}

struct notebook *session_fixture_open_in(struct session_fixture *sessions,
                                         struct environment *environment)
{
    struct error err = ERROR_INIT;
    struct notebook *notebook = open_session(sessions, environment, "ann", &err);

    if (!notebook)
        fail_msg("%s", err.message);
    return notebook;
}

static void on_cell_done(void *data, const struct run_report *report)
{
    struct tried_cell *cell = data;
    json_t *out = capture_text(&report->streams[PROCESS_STDOUT], NULL);

    assert_false(cell->is_done);
    cell->is_done = true;
    cell->cell = NULL;
    cell->order = cell->sessions->done++;
    cell->end = report->end;
    cell->session = report->session;
    cell->returncode = report->execution.returncode;
    cell->cpu_seconds = report->execution.cpu_seconds;
    cell->prepare_seconds = report->prepare_seconds;
    memcpy(cell->error, report->error.message, sizeof cell->error);
    cell->out = memory_copy_string(json_string_value(out));
    json_decref(out);
}

void tried_cell_submit(struct tried_cell *cell, struct session_fixture *sessions,
                       struct notebook *notebook, const char *code, double timeout)
{
    const struct cell_request request = {
        .code = code,
        .code_length = strlen(code),
        .timeout = timeout,
        .data = cell,
        .done = on_cell_done,
    };

    *cell = (struct tried_cell){.sessions = sessions};
    cell->cell = notebook_submit(notebook, &request);
}

static void on_bound(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)timer;
    (void)events;
    fail_msg("not done within %g seconds", BOUND_SECONDS);
}

void tried_cell_wait(struct tried_cell *cell)
{
    struct ev_loop *loop = cell->sessions->fixture->loop;
    ev_timer bound;

    ev_now_update(loop);
    ev_timer_init(&bound, on_bound, BOUND_SECONDS, 0.);
    ev_timer_start(loop, &bound);
    while (!cell->is_done)
        ev_run(loop, EVRUN_ONCE);
    ev_timer_stop(loop, &bound);
}

void tried_cell_deinit(struct tried_cell *cell)
{
    free(cell->out);
    cell->out = NULL;
}

void tried_cell_execute(struct tried_cell *cell, struct session_fixture *sessions,
                        struct notebook *notebook, const char *code)
{
    tried_cell_submit(cell, sessions, notebook, code, BOUND_SECONDS);
    tried_cell_wait(cell);
}
