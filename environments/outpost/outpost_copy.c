#include "environments/outpost/outpost_copy.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/text.h"

#include <string.h>

/* Arrival */

static void outpost_copy_on_exceeded(struct directory_watch *watch)
{
    struct outpost_copy *copy = CONTAINER_OF(watch, struct outpost_copy, watch);

    copy->exceeded(copy);
}

static void outpost_copy_on_founded(struct directory_watch *watch)
{
    struct outpost_copy *copy = CONTAINER_OF(watch, struct outpost_copy, watch);

    copy->ready(copy);
}

/* Files that are here before the code do not count as growth, and it finds what it only reads as it
 * is then. */
static void outpost_copy_be_ready(struct outpost_copy *copy)
{
    if (copy->is_watched)
        return;
    copy->is_watched = true;
    copy->receiving.kept = copy->kept;
    if (directory_watch_begin(&copy->watch, &copy->claim, NULL) == OUTCOME_READY)
        copy->ready(copy);
}

int outpost_copy_take(struct outpost_copy *copy, enum node_frame type, const char *data,
                      size_t length, struct error *err)
{
    if (copy->sending.state != NODE_SENDING_RESTING)
        return 0; /* the server has not known yet that its time is over */
    if (type == NODE_COPIED) {
        node_receiving_end(&copy->receiving);
        outpost_copy_be_ready(copy);
        return 0;
    }
    return node_receiving_take(&copy->receiving, type, data, length, err);
}

/* Return */

static void outpost_copy_on_frame(struct node_sending *sending, enum node_frame type,
                                  const char *data, size_t length)
{
    struct outpost_copy *copy = CONTAINER_OF(sending, struct outpost_copy, sending);

    copy->frame(copy, type, data, length);
}

static void outpost_copy_on_listed(struct node_sending *sending)
{
    node_sending_go(sending);
}

static void outpost_copy_on_done(struct node_sending *sending)
{
    struct outpost_copy *copy = CONTAINER_OF(sending, struct outpost_copy, sending);
    struct node_skips skips = copy->receiving.skips;
    AUTO_JSON json_t *message = NULL;
    AUTO_FREE char *text = NULL;

    copy->receiving.skips = (struct node_skips){0};
    node_skips_join(&skips, &sending->skips);
    message = node_skips_write(&skips);
    text = json_text(message);
    copy->frame(copy, NODE_COPIED, text, strlen(text));
    ev_timer_start(copy->loop, &copy->over);
}

static void outpost_copy_on_over(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct outpost_copy *copy = CONTAINER_OF(timer, struct outpost_copy, over);

    (void)loop;
    (void)events;
    copy->returned(copy);
}

void outpost_copy_cancel(struct outpost_copy *copy)
{
    ev_timer_stop(copy->loop, &copy->over);
    node_sending_cancel(&copy->sending);
}

void outpost_copy_return(struct outpost_copy *copy)
{
    copy->frame(copy, NODE_RETURN, NULL, 0);
    node_receiving_end(&copy->receiving);
    outpost_copy_cancel(copy);
    node_sending_begin(&copy->sending);
}

void outpost_copy_go_on(struct outpost_copy *copy)
{
    node_sending_go_on(&copy->sending);
}

/* Paths */

const char *outpost_copy_path(const struct outpost_copy *copy)
{
    return working_directory_path(copy->directory);
}

char *outpost_copy_translate(const struct outpost_copy *copy, const char *path,
                             const char *server_directory)
{
    const size_t length = strlen(server_directory);

    if (!text_starts_with(path, server_directory) || path[length] != '/')
        return NULL;
    return memory_format("%s%s", outpost_copy_path(copy), path + length);
}

/* Its beginning and end */

int outpost_copy_open(struct outpost_copy *copy, struct workplace *workplace,
                      const struct node_request *request, struct error *err)
{
    copy->directory =
        workplace_open(workplace, request->request.owner, request->request.isolation, NULL, err);
    if (!copy->directory)
        return -1;
    if (directory_claim_open(&copy->claim, copy->directory, SCRIPT_LAID_OVER, err) < 0) {
        working_directory_unref(STEAL_PTR(copy->directory));
        return -1;
    }
    copy->sending = (struct node_sending){
        .loop = copy->loop,
        .directory = working_directory_fd(copy->directory),
        .credit = copy->credit,
        .limit = request->copy_limit,
        .frame = outpost_copy_on_frame,
        .listed = outpost_copy_on_listed,
        .done = outpost_copy_on_done,
    };
    copy->watch = (struct directory_watch){
        .loop = copy->loop,
        .limit = request->growth_limit,
        .founded = outpost_copy_on_founded,
        .exceeded = outpost_copy_on_exceeded,
    };
    copy->kept = request->kept;
    ev_timer_init(&copy->over, outpost_copy_on_over, 0., 0.);
    node_sending_init(&copy->sending);
    copy->sending.before = directory_listing_new_empty();
    node_receiving_init(&copy->receiving, working_directory_fd(copy->directory),
                        &copy->sending.before, UINT64_MAX);
    return 0;
}

void outpost_copy_close(struct outpost_copy *copy)
{
    if (!copy->directory)
        return;
    if (copy->is_watched)
        directory_watch_end(&copy->watch);
    outpost_copy_cancel(copy);
    node_sending_deinit(&copy->sending);
    node_receiving_end(&copy->receiving);
    directory_claim_close(&copy->claim);
    working_directory_unref(STEAL_PTR(copy->directory));
}
