#include "environments/notebook/notebooks.h"

#include "base/memory.h"
#include "environments/notebook/notebook_private.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct notebooks {
    struct notebooks_settings settings;
    char *replica;    /* owned; that of the first settings */
    struct list open; /* of struct notebook: also closed sessions until they are freed */
};

struct notebooks *notebooks_new(const struct notebooks_settings *settings)
{
    struct notebooks *notebooks = NEW(struct notebooks);

    notebooks->settings = *settings;
    if (settings->replica)
        notebooks->settings.replica = notebooks->replica = memory_copy_string(settings->replica);
    list_init(&notebooks->open);
    return notebooks;
}

/* Closes all sessions, since nobody can use them any more. */
static void notebooks_turn_off(struct notebooks *notebooks)
{
    LIST_FOR_EACH (&notebooks->open, link) {
        struct notebook *notebook = CONTAINER_OF(link, struct notebook, link);

        if (notebook->error.code == ERROR_NONE) /* else it is ending, and says why */
            error_set(&notebook->error, ERROR_UNAVAILABLE,
                      "the session was closed: the server has none any more");
        notebook_close(notebook, false);
    }
}

void notebooks_set_limits(struct notebooks *notebooks, const struct notebooks_settings *settings)
{
    struct ev_loop *loop = notebooks->settings.loop;

    notebooks->settings = *settings;
    notebooks->settings.loop = loop;
    notebooks->settings.replica = notebooks->replica;
    if (notebooks->settings.most == 0)
        notebooks_turn_off(notebooks);
}

unsigned notebooks_count(const struct notebooks *notebooks)
{
    unsigned count = 0;

    LIST_FOR_EACH (&notebooks->open, link) {
        count++;
    }
    return count;
}

bool notebooks_are_offered(const struct notebooks *notebooks)
{
    return notebooks && notebooks->settings.most > 0;
}

double notebooks_idle_seconds(const struct notebooks *notebooks)
{
    return notebooks->settings.idle_seconds;
}

struct notebook *notebooks_next(const struct notebooks *notebooks, const char *owner,
                                struct notebook *previous)
{
    const struct list *link = previous ? &previous->link : &notebooks->open;

    while ((link = link->next) != &notebooks->open) {
        struct notebook *notebook = CONTAINER_OF(link, struct notebook, link);

        if (!notebook->is_closed && strcmp(notebook->owner, owner) == 0)
            return notebook;
    }
    return NULL;
}

struct notebook *notebooks_find(const struct notebooks *notebooks, const char *owner,
                                const char *handle)
{
    struct notebook *notebook = NULL;

    while ((notebook = notebooks_next(notebooks, owner, notebook)))
        if (strcmp(notebook->handle, handle) == 0)
            return notebook;
    return NULL;
}

struct notebooks_tally {
    unsigned open;
    unsigned closing; /* they use memory until they are freed */
};

/* Counts the sessions of OWNER, or of everybody if it is NULL. */
static struct notebooks_tally notebooks_tally(const struct notebooks *notebooks, const char *owner)
{
    struct notebooks_tally tally = {0};

    LIST_FOR_EACH (&notebooks->open, link) {
        const struct notebook *notebook = CONTAINER_OF(link, struct notebook, link);

        if (!owner || strcmp(notebook->owner, owner) == 0)
            *(notebook->is_closed ? &tally.closing : &tally.open) += 1;
    }
    return tally;
}

/* Who closes a session may open another one at once. So closing sessions have a limit of their own,
 * which is as high. Those of others are no reason to refuse him who has none. */
static int notebooks_check_closing(const struct notebooks *notebooks, const char *owner,
                                   struct error *err)
{
    const struct notebooks_settings *limits = &notebooks->settings;
    const struct notebooks_tally own = notebooks_tally(notebooks, owner);
    const struct notebooks_tally all = notebooks_tally(notebooks, NULL);

    if (own.closing >= limits->most_per_owner || (own.closing > 0 && all.closing >= limits->most))
        return error_set(err, ERROR_BUSY, "%u of your sessions are still ending: try again",
                         own.closing);
    return 0;
}

static int notebooks_check_room(const struct notebooks *notebooks, const char *owner,
                                struct error *err)
{
    const struct notebooks_settings *limits = &notebooks->settings;
    const struct notebooks_tally own = notebooks_tally(notebooks, owner);
    const struct notebooks_tally all = notebooks_tally(notebooks, NULL);

    if (own.open >= limits->most_per_owner)
        return error_set(err, ERROR_BUSY,
                         "%u of your sessions are open, and the limit is %u: close one", own.open,
                         limits->most_per_owner);
    if (all.open >= limits->most)
        return error_set(err, ERROR_BUSY,
                         "the server is busy: %u sessions are open, and the limit is %u", all.open,
                         limits->most);
    return notebooks_check_closing(notebooks, owner, err);
}

struct notebook *notebooks_open(struct notebooks *notebooks, const struct notebook_request *request,
                                struct error *err)
{
    struct notebook *notebook;

    if (notebooks_check_room(notebooks, request->owner, err) < 0)
        return NULL;
    notebook = notebook_new(&notebooks->settings, request);
    list_append(&notebooks->open, &notebook->link);
    return notebook;
}

static struct notebook *notebooks_make_like(const struct notebooks *notebooks,
                                            const struct notebook *model)
{
    return notebook_new(&notebooks->settings,
                        &(struct notebook_request){
                            .environment = model->environment,
                            .directory = model->directory,
                            .isolation = model->isolation,
                            .owner = model->owner,
                            .variables = (const char *const *)model->variables,
                            .picture_helper = model->turn.gallery.helper,
                        });
}

struct notebook *notebooks_copy(struct notebooks *notebooks, struct notebook *origin,
                                struct error *err)
{
    struct notebook *copy;

    if (notebooks_check_room(notebooks, origin->owner, err) < 0)
        return NULL;
    copy = notebooks_make_like(notebooks, origin);
    list_append(&notebooks->open, &copy->link);
    if (notebook_begin_as_copy(copy, origin, err) == 0)
        return copy;
    notebook_close(copy, true);
    return NULL;
}

/* Closes the copies as well: they are killed with its Python, and would stay open as ended
 * sessions. */
static void notebooks_close_family(struct notebook *notebook)
{
    LIST_FOR_EACH (&notebook->lineage.copies, link) {
        notebook_close(CONTAINER_OF(link, struct notebook, lineage.link), false);
    }
    notebook_close(notebook, false);
}

int notebooks_restart(struct notebooks *notebooks, struct notebook *notebook,
                      const struct notebook_request *request, struct error *err)
{
    struct notebook *renewed;
    char *handle;

    if (notebooks_check_closing(notebooks, notebook->owner, err) < 0)
        return -1;
    renewed = notebook_new(&notebooks->settings, request);
    notebook_take_packages(renewed, notebook);
    handle = renewed->handle;
    renewed->handle = notebook->handle;
    notebook->handle = handle;
    list_append(&notebooks->open, &renewed->link);
    notebooks_close_family(notebook);
    return 0;
}

void notebooks_close(struct notebook *notebook)
{
    notebooks_close_family(notebook);
}

void notebooks_stop(struct notebooks *notebooks)
{
    LIST_FOR_EACH_SAFE (&notebooks->open, link) {
        notebook_close(CONTAINER_OF(link, struct notebook, link), true);
    }
}

bool notebooks_are_idle(const struct notebooks *notebooks)
{
    return !notebooks || list_is_empty(&notebooks->open);
}

void notebooks_free(struct notebooks *notebooks)
{
    if (!notebooks)
        return;
    assert(list_is_empty(&notebooks->open));
    free(notebooks->replica);
    free(notebooks);
}
