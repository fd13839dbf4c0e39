#include "base/clock.h"
#include "base/json.h"
#include "base/memory.h"
#include "environments/notebook/notebook_private.h"

#include <stdlib.h>
#include <string.h>

struct cell *cell_new(struct notebook *notebook, const struct cell_request *request)
{
    struct cell *cell = NEW(struct cell);

    cell->notebook = notebook;
    cell->request = *request;
    cell->code = memory_new(request->code_length + 1, 1);
    memcpy(cell->code, request->code, request->code_length);
    cell->request.code = cell->code;
    json_incref(request->files);
    json_incref(request->imports);
    json_incref(request->packages);
    cell->error.rest = &cell->error_rest;
    cell->submitted_at = clock_seconds();
    list_init(&cell->link);
    return cell;
}

void cell_free(struct cell *cell)
{
    list_remove(&cell->link);
    json_decref(cell->request.files);
    json_decref(cell->request.imports);
    json_decref(cell->request.packages);
    if (cell->extension)
        environment_release(cell->extension);
    free(cell->installed);
    free(cell->code);
    free(cell);
}

struct cell *notebook_current(const struct notebook *notebook)
{
    if (notebook->state == NOTEBOOK_RESTING || list_is_empty(&notebook->cells))
        return NULL;
    return CONTAINER_OF(notebook->cells.next, struct cell, link);
}

static bool cell_is_current(const struct cell *cell)
{
    return cell == notebook_current(cell->notebook);
}

const char *cell_activity(const struct cell *cell)
{
    const struct notebook *notebook = cell->notebook;
    const struct environment *preparing = cell->extension ? cell->extension : notebook->environment;
    const char *step = preparing->step.text;

    if (!cell_is_current(cell))
        return "waiting";
    if (notebook->state == NOTEBOOK_PREPARING && *step)
        return step;
    return notebook->state == NOTEBOOK_ACTING ? "running" : "preparing";
}

char *cell_last_line(const struct cell *cell)
{
    return cell_is_current(cell) ? turn_last_line(&cell->notebook->turn) : NULL;
}

const struct capture *cell_streams(const struct cell *cell)
{
    return cell_is_current(cell) ? cell->notebook->turn.streams : NULL;
}

void cell_tell_step(struct environment_waiter *waiter, const struct preparation_step *step)
{
    struct cell *cell = notebook_current(CONTAINER_OF(waiter, struct notebook, waiter));

    if (cell && cell->request.done && cell->request.progress)
        cell->request.progress(cell->request.data, step);
}
