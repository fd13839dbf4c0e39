#include "environments/nodes/node_copy.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/list.h"
#include "base/memory.h"
#include "environments/nodes/node_message.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define NODE_COPY_PATIENCE_SECONDS 15. /* as much as for its silence */

#define NODE_COPY_HOLE_BYTES (10ull << 30)

enum { NODE_COPY_RETURNS = 2 }; /* of a cell at most: the process may end within the first */

static struct node_copy *node_copy_of(struct node_sending *sending)
{
    return CONTAINER_OF(sending, struct node_copy, sending);
}

static void node_copy_rest(struct node_copy *copy)
{
    ev_timer_stop(copy->loop, &copy->patience);
}

/* Sending */

/* A frame that goes to a node gives it no more time for the files, or the end, that it owes. */
static bool node_copy_is_owed(const struct node_copy *copy)
{
    return copy->returns > 0;
}

static void node_copy_wait(struct node_copy *copy)
{
    if (!node_copy_is_owed(copy))
        ev_timer_again(copy->loop, &copy->patience);
}

static void node_copy_on_frame(struct node_sending *sending, enum node_frame type, const char *data,
                               size_t length)
{
    node_stay_send(node_copy_of(sending)->stay, type, data, length);
}

/* A file with holes has any length here, and each byte of it goes over. */
static bool node_copy_has_large_holes(const struct node_copy *copy)
{
    uint64_t bytes;

    (void)directory_listing_measures(copy->sending.now, &bytes);
    return directory_listing_size(copy->sending.now) > bytes + NODE_COPY_HOLE_BYTES;
}

static void node_copy_refuse(struct node_copy *copy, const char *why)
{
    node_sending_cancel(&copy->sending);
    copy->failed(copy, why);
}

static void node_copy_on_listed(struct node_sending *sending)
{
    struct node_copy *copy = node_copy_of(sending);

    if (!sending->before && !directory_listing_is_complete(sending->now)) {
        node_copy_refuse(copy, "the working directory has more files than can be copied to a node "
                               "(10,000), or deeper ones");
    } else if (node_copy_has_large_holes(copy)) {
        node_copy_refuse(copy, "the working directory has files with holes of more than 10 GiB");
    } else {
        copy->listed(copy);
    }
}

static void node_copy_on_done(struct node_sending *sending)
{
    struct node_copy *copy = node_copy_of(sending);

    if (!node_copy_is_owed(copy))
        node_copy_rest(copy);
    node_skips_join(&copy->skips, &sending->skips);
    node_stay_tell(copy->stay, NODE_COPIED, json_object());
    copy->sent(copy);
}

void node_copy_begin(struct node_copy *copy)
{
    node_sending_begin(&copy->sending);
}

void node_copy_go(struct node_copy *copy)
{
    node_copy_wait(copy);
    node_sending_go(&copy->sending);
}

void node_copy_go_on(struct node_copy *copy)
{
    if (copy->sending.state < NODE_SENDING_LOSSES)
        return;
    node_copy_wait(copy);
    node_sending_go_on(&copy->sending);
}

uint64_t node_copy_limit(const struct node_copy *copy)
{
    return directory_listing_size(copy->sending.now) + copy->growth;
}

/* Receiving */

static void node_copy_fail(struct node_copy *copy, const char *why)
{
    node_copy_rest(copy);
    node_sending_cancel(&copy->sending);
    copy->failed(copy, why);
}

static void node_copy_on_patience(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct node_copy *copy = CONTAINER_OF(timer, struct node_copy, patience);

    (void)loop;
    (void)events;
    node_copy_fail(copy, copy->returns > 0 && !copy->is_returning
                             ? "it has given all files back, and not ended in 15 seconds"
                             : "it lives, and has copied no file in 15 seconds");
}

static void node_copy_begin_return(struct node_copy *copy)
{
    const struct directory_listing *sent;

    node_sending_cancel(&copy->sending); /* it has ended before it had all */
    node_receiving_end(&copy->receiving);
    sent = copy->sending.before;
    node_receiving_init(&copy->receiving, copy->directory, &copy->sending.before,
                        (sent ? directory_listing_size(sent) : 0) + copy->growth);
    copy->receiving.kept = copy->kept;
    copy->receiving.spares_changes = true;
    copy->is_returning = true;
    copy->returns++;
    ev_timer_again(copy->loop, &copy->patience);
}

static void node_copy_end_return(struct node_copy *copy, const json_t *message)
{
    struct node_skips theirs;

    copy->is_returning = false;
    ev_timer_again(copy->loop, &copy->patience);
    node_receiving_end(&copy->receiving);
    node_skips_read(&theirs, message);
    node_skips_join(&copy->skips, &theirs);
    node_skips_join(&copy->skips, &copy->receiving.skips);
}

bool node_copy_is_returning(const struct node_copy *copy)
{
    return copy->is_returning;
}

void node_copy_end_cell(struct node_copy *copy)
{
    if (!node_copy_is_open(copy) || copy->returns == 0)
        return;
    node_copy_rest(copy);
    copy->returns = 0;
    copy->is_returning = false;
}

static void node_copy_take_file(struct node_copy *copy, enum node_frame type, const char *data,
                                size_t length)
{
    struct error err = ERROR_INIT;

    if (node_receiving_take(&copy->receiving, type, data, length, &err) < 0) {
        node_copy_fail(copy, err.message);
        return;
    }
    ev_timer_again(copy->loop, &copy->patience);
    node_stay_give_credit(copy->stay, length);
}

void node_copy_take(struct node_copy *copy, enum node_frame type, const char *data, size_t length)
{
    AUTO_JSON json_t *message = type == NODE_COPIED ? json_loadb(data, length, 0, NULL) : NULL;

    if (type == NODE_RETURN ? copy->returns == NODE_COPY_RETURNS : !copy->is_returning)
        node_copy_fail(copy, "it sends files that were not asked for");
    else if (type == NODE_RETURN)
        node_copy_begin_return(copy);
    else if (type == NODE_COPIED)
        node_copy_end_return(copy, message);
    else
        node_copy_take_file(copy, type, data, length);
}

char *node_copy_tell(struct node_copy *copy)
{
    const struct node_skips skips = copy->skips;

    copy->skips = (struct node_skips){0};
    if (skips.count == 0)
        return NULL;
    if (skips.count == skips.named)
        return memory_format("not copied: %s", skips.names);
    return memory_format("not copied: %s, and %u more", skips.names, skips.count - skips.named);
}

/* Its beginning and end */

int node_copy_open(struct node_copy *copy, int directory, struct error *err)
{
    copy->directory = fcntl(directory, F_DUPFD_CLOEXEC, 0);
    if (copy->directory < 0)
        return error_set_errno(err, errno, "cannot open the working directory");
    copy->sending = (struct node_sending){
        .loop = copy->loop,
        .directory = copy->directory,
        .credit = copy->credit,
        .limit = UINT64_MAX,
        .frame = node_copy_on_frame,
        .listed = node_copy_on_listed,
        .done = node_copy_on_done,
    };
    node_sending_init(&copy->sending);
    node_receiving_init(&copy->receiving, copy->directory, &copy->sending.before, 0);
    ev_timer_init(&copy->patience, node_copy_on_patience, 0., NODE_COPY_PATIENCE_SECONDS);
    return 0;
}

void node_copy_close(struct node_copy *copy)
{
    if (!node_copy_is_open(copy))
        return;
    node_copy_rest(copy);
    node_sending_deinit(&copy->sending);
    node_receiving_end(&copy->receiving);
    close(STEAL_FD(copy->directory));
}
