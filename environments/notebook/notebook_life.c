/* How a session is made and goes. */
#include "base/json.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/starter/starter.h"
#include "environments/notebook/notebook_private.h"

#include <stdlib.h>

enum { NOTEBOOK_HANDLE_DIGITS = 32 };

void notebook_renew(struct notebook *notebook)
{
    for (int i = 0; i < PROCESS_STREAMS; i++) {
        capture_deinit(&notebook->streams[i]);
        capture_init(&notebook->streams[i], notebook->environment->settings.output);
    }
    json_decref(notebook->changes.files);
    notebook->changes = (struct directory_changes){.are_complete = true};
    gallery_cancel(&notebook->gallery);
    json_decref(notebook->gallery.pictures);
    notebook->gallery.pictures = NULL;
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

struct notebook *notebook_make(struct ev_loop *loop, const struct notebook_request *request,
                               double idle_seconds)
{
    struct notebook *notebook = NEW(struct notebook);

    notebook->loop = loop;
    notebook->handle = random_digits(NOTEBOOK_HANDLE_DIGITS);
    notebook->begun_at = time(NULL);
    notebook->owner = memory_copy_string(request->owner);
    notebook->environment = request->environment;
    environment_hold(request->environment);
    notebook->directory = working_directory_ref(request->directory);
    notebook->isolation = request->isolation;
    notebook->variables = notebook_variables(request);
    notebook->idle_seconds = idle_seconds;
    notebook->channel.fd = -1;
    notebook->gallery.helper = request->picture_helper;
    notebook->changes.are_complete = true;
    list_init(&notebook->link);
    lineage_init(&notebook->lineage);
    list_init(&notebook->cells);
    for (int i = 0; i < PROCESS_STREAMS; i++)
        capture_init(&notebook->streams[i], request->environment->settings.output);
    return notebook;
}

void notebook_free(struct notebook *notebook)
{
    list_remove(&notebook->link);
    lineage_leave(&notebook->lineage);
    directory_look_deinit(&notebook->look);
    directory_watch_end(&notebook->growth);
    gallery_deinit(&notebook->gallery);
    notebook_link_close(notebook);
    notebook_forget_end(notebook);
    json_decref(notebook->changes.files);
    directory_claim_close(&notebook->claim);
    working_directory_unref(notebook->directory);
    for (int i = 0; i < PROCESS_STREAMS; i++)
        capture_deinit(&notebook->streams[i]);
    environment_release(notebook->environment);
    memory_free_strings(notebook->variables);
    ev_timer_stop(notebook->loop, &notebook->deadline);
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
    directory_look_cancel(&notebook->look);
    gallery_cancel(&notebook->gallery);
    directory_watch_end(&notebook->growth);
    notebook_set_state(notebook, NOTEBOOK_RESTING);
    notebook_dismiss_cells(notebook, is_silent);
    if (notebook->execution)
        notebook->execution->kill(notebook->execution);
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
