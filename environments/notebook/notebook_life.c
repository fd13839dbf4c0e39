/* How a session is made and goes, with its family, and the one function that changes its state. */
#include "base/cleanup.h"
#include "base/handle.h"
#include "base/memory.h"
#include "base/starter/starter.h"
#include "base/state.h"
#include "environments/notebook/notebook_private.h"

#include <stdio.h>
#include <stdlib.h>

enum { NOTEBOOK_HANDLE_DIGITS = 32 };

static const struct state notebook_states[] = {
    [NOTEBOOK_RESTING] = {"resting", 1 << NOTEBOOK_PREPARING | 1 << NOTEBOOK_STARTING |
                                         1 << NOTEBOOK_ACTING | 1 << NOTEBOOK_RESTING},
    [NOTEBOOK_PREPARING] = {"preparing", 1 << NOTEBOOK_STARTING | 1 << NOTEBOOK_BRINGING |
                                             1 << NOTEBOOK_ACTING | 1 << NOTEBOOK_RESTING},
    [NOTEBOOK_STARTING] = {"starting",
                           1 << NOTEBOOK_BRINGING | 1 << NOTEBOOK_ACTING | 1 << NOTEBOOK_RESTING},
    [NOTEBOOK_BRINGING] = {"bringing files", 1 << NOTEBOOK_ACTING | 1 << NOTEBOOK_RESTING},
    [NOTEBOOK_ACTING] = {"acting", 1 << NOTEBOOK_RESTING},
};

void lineage_init(struct lineage *lineage)
{
    lineage->first = NULL;
    list_init(&lineage->copies);
    list_init(&lineage->link);
}

void lineage_join(struct lineage *copy, struct lineage *origin)
{
    copy->first = origin->first ? origin->first : origin;
    list_append(&copy->first->copies, &copy->link);
}

void lineage_leave(struct lineage *lineage)
{
    LIST_FOR_EACH_SAFE (&lineage->copies, link) {
        CONTAINER_OF(link, struct lineage, link)->first = NULL;
        list_remove(link);
    }
    list_remove(&lineage->link);
    lineage->first = NULL;
}

bool lineage_carries_others(const struct lineage *lineage)
{
    return !list_is_empty(&lineage->copies);
}

void notebook_start_idle(struct notebook *notebook)
{
    ev_timer_set(&notebook->idle, notebook->idle_seconds, 0.);
    ev_timer_start(notebook->loop, &notebook->idle);
}

void notebook_set_state(struct notebook *notebook, enum notebook_state state)
{
    state_change(notebook_states, notebook->state, state, "session %.4s", notebook->handle);
    notebook->state = state;
    ev_timer_stop(notebook->loop, &notebook->idle);
    if (state == NOTEBOOK_RESTING && !notebook->is_closed)
        notebook_start_idle(notebook);
}

void notebook_schedule(struct notebook *notebook)
{
    if (!ev_is_active(&notebook->next))
        ev_timer_start(notebook->loop, &notebook->next);
}

/* The variables of REQUEST, and the variable that tells the starter to save no figures if images
 * are off. */
static char **notebook_variables(const struct notebook_request *request)
{
    char **copy = memory_copy_strings(request->variables);
    size_t count = 0;

    if (request->environment->settings.images != IMAGES_OFF)
        return copy;
    while (copy && copy[count])
        count++;
    copy = memory_resize(copy, (count + 2) * sizeof *copy);
    copy[count] = memory_copy_string(STARTER_WITHOUT_FIGURES);
    copy[count + 1] = NULL;
    return copy;
}

static void notebook_init_turn(struct notebook *notebook, const struct notebook_request *request,
                               const struct turn_ops *ops)
{
    AUTO_FREE char *name = memory_format("session %.4s", notebook->handle);

    turn_init(&notebook->turn, &(struct turn_settings){
                                   .ops = ops,
                                   .name = name,
                                   .loop = notebook->loop,
                                   .environment = notebook->environment,
                                   .directory = notebook->directory,
                                   .picture_helper = request->picture_helper,
                                   .tools = request->tools,
                                   .grace_seconds = NOTEBOOK_GRACE_SECONDS,
                               });
}

struct notebook *notebook_make(const struct notebooks_settings *settings,
                               const struct notebook_request *request, const struct turn_ops *ops)
{
    struct notebook *notebook = NEW(struct notebook);

    notebook->loop = settings->loop;
    notebook->handle = handle_new(settings->replica, NOTEBOOK_HANDLE_DIGITS);
    notebook->begun_at = time(NULL);
    notebook->owner = memory_copy_string(request->owner);
    notebook->environment = request->environment;
    environment_hold(request->environment);
    notebook->directory = working_directory_ref(request->directory);
    notebook->isolation = request->isolation;
    notebook->variables = notebook_variables(request);
    notebook->idle_seconds = settings->idle_seconds;
    notebook->channel.fd = -1;
    list_init(&notebook->link);
    lineage_init(&notebook->lineage);
    list_init(&notebook->cells);
    notebook_init_turn(notebook, request, ops);
    return notebook;
}

void notebook_free(struct notebook *notebook)
{
    list_remove(&notebook->link);
    lineage_leave(&notebook->lineage);
    turn_deinit(&notebook->turn);
    notebook_link_close(notebook);
    directory_claim_close(&notebook->claim);
    notebook_packages_release(notebook->coming);
    notebook_packages_release(notebook->packages);
    working_directory_unref(notebook->directory);
    environment_release(notebook->environment);
    memory_free_strings(notebook->variables);
    ev_timer_stop(notebook->loop, &notebook->next); /* it may have been started again */
    free(notebook->handle);
    free(notebook->owner);
    free(notebook);
}

static void notebook_dismiss_cells(struct notebook *notebook, bool is_silent)
{
    while (!list_is_empty(&notebook->cells)) {
        struct cell *cell = CONTAINER_OF(notebook->cells.next, struct cell, link);

        list_remove(&cell->link);
        if (is_silent)
            cell->request.done = NULL;
        cell->end = RUN_FAILED;
        if (notebook->error.code != ERROR_NONE)
            error_copy(&cell->error, &notebook->error);
        else
            error_set(&cell->error, ERROR_UNAVAILABLE, "the session was closed");
        cell_finish(cell);
    }
}

void notebook_close(struct notebook *notebook, bool is_silent)
{
    if (notebook->is_closed)
        return;
    notebook->is_closed = true;
    if (notebook->state == NOTEBOOK_PREPARING)
        environment_forget_waiter(&notebook->waiter);
    directory_watch_end(&notebook->turn.growth);
    turn_leave(&notebook->turn);
    notebook_set_state(notebook, NOTEBOOK_RESTING);
    notebook_dismiss_cells(notebook, is_silent);
    if (notebook->turn.execution)
        notebook->turn.execution->kill(notebook->turn.execution);
    notebook_schedule(notebook);
}

const char *notebook_handle(const struct notebook *notebook)
{
    return notebook->handle;
}

struct environment *notebook_environment(const struct notebook *notebook)
{
    return notebook->environment;
}

struct working_directory *notebook_directory(const struct notebook *notebook)
{
    return notebook->directory;
}

enum isolation notebook_isolation(const struct notebook *notebook)
{
    return notebook->isolation;
}

time_t notebook_begun(const struct notebook *notebook)
{
    return notebook->begun_at;
}

unsigned long notebook_cells(const struct notebook *notebook)
{
    return notebook->count;
}

bool notebook_is_busy(const struct notebook *notebook)
{
    return !list_is_empty(&notebook->cells);
}
