#include "environments/nodes/node_sending.h"

#include "base/cleanup.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/state.h"
#include "base/untrusted.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { NODE_SENDING_OPERATIONS = 100 }; /* in one turn of the loop */

static const struct state node_sending_states[] = {
    [NODE_SENDING_RESTING] = {"resting", 1 << NODE_SENDING_LISTING},
    [NODE_SENDING_LISTING] = {"listing", 1 << NODE_SENDING_RESTING | 1 << NODE_SENDING_LOSSES},
    [NODE_SENDING_LOSSES] = {"telling losses",
                             1 << NODE_SENDING_RESTING | 1 << NODE_SENDING_ENTRIES},
    [NODE_SENDING_ENTRIES] = {"sending", 1 << NODE_SENDING_RESTING},
};

static void node_sending_set_state(struct node_sending *sending, enum node_sending_state state)
{
    state_change(node_sending_states, sending->state, state, "copy of %d", sending->directory);
    sending->state = state;
    sending->place = 0;
}

static void node_sending_close(struct node_sending *sending)
{
    if (sending->fd >= 0)
        close(STEAL_FD(sending->fd));
    sending->left = 0;
}

void node_sending_cancel(struct node_sending *sending)
{
    if (sending->state == NODE_SENDING_RESTING)
        return;
    ev_idle_stop(sending->loop, &sending->turn);
    node_sending_close(sending);
    node_sending_set_state(sending, NODE_SENDING_RESTING);
}

/* No frame is larger than the piece for which there is credit. */
static_assert((int)NODE_ENTRY_BYTES <= (int)NODE_PIECE_BYTES, "an entry is said like a piece");

static void node_sending_say(struct node_sending *sending, enum node_frame type, const char *data,
                             size_t length)
{
    *sending->credit -= length;
    sending->frame(sending, type, data, length);
}

/* Entries */

static void node_sending_say_entry(struct node_sending *sending, const char *path,
                                   const struct stat *status, const char *target)
{
    char bytes[NODE_ENTRY_BYTES];
    const struct node_entry entry = {
        .mode = status->st_mode,
        .size = S_ISREG(status->st_mode) ? (uint64_t)status->st_size : 0,
        .modified = status->st_mtim,
        .path = path,
        .target = target,
    };

    node_sending_say(sending, NODE_ENTRY, bytes, node_entry_write(bytes, &entry));
}

/* It may have become something else since it was listed. */
static const char *node_sending_open_file(struct node_sending *sending, const char *path)
{
    struct error ignored = ERROR_INIT;
    AUTO_CLOSE int fd = untrusted_open(sending->directory, path, O_RDONLY, &ignored);
    struct stat status;

    if (fd < 0 || fstat(fd, &status) < 0)
        return "cannot be read";
    if ((uint64_t)status.st_size > sending->limit - sending->size)
        return "too large";
    sending->size += (uint64_t)status.st_size;
    sending->left = (uint64_t)status.st_size;
    node_sending_say_entry(sending, path, &status, "");
    if (sending->left > 0)
        sending->fd = STEAL_FD(fd);
    return NULL;
}

static const char *node_sending_say_link(struct node_sending *sending, int parent, const char *name,
                                         const char *path, const struct stat *status)
{
    char target[NODE_ENTRY_PATH_BYTES + 1];
    const ssize_t length = readlinkat(parent, name, target, sizeof target);

    if (length <= 0 || (size_t)length == sizeof target)
        return "cannot be read";
    target[length] = '\0';
    node_sending_say_entry(sending, path, status, target);
    return NULL;
}

/* The reason why PATH is left out, or NULL. */
static const char *node_sending_say_path(struct node_sending *sending, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    AUTO_FREE char *above =
        memory_format("%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    struct error ignored = ERROR_INIT;
    AUTO_CLOSE int parent = -1;
    struct stat status;

    if (node_entry_check_path(path, &ignored) < 0)
        return "too deep";
    parent = untrusted_open_directory(sending->directory, above, &ignored);
    if (parent < 0 || fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return "cannot be read";
    if (S_ISREG(status.st_mode))
        return node_sending_open_file(sending, path);
    if (S_ISLNK(status.st_mode))
        return node_sending_say_link(sending, parent, name, path, &status);
    if (!S_ISDIR(status.st_mode))
        return "no regular file";
    node_sending_say_entry(sending, path, &status, "");
    return NULL;
}

static void node_sending_finish(struct node_sending *sending)
{
    node_sending_set_state(sending, NODE_SENDING_RESTING);
    directory_listing_free(sending->before);
    sending->before = STEAL_PTR(sending->now);
    sending->done(sending);
}

static void node_sending_next_entry(struct node_sending *sending)
{
    const char *path =
        directory_listing_next_change(sending->before, sending->now, &sending->place);
    const char *fault;

    if (!path) {
        node_sending_finish(sending);
        return;
    }
    fault = node_sending_say_path(sending, path);
    if (fault)
        node_skips_add(&sending->skips, path, fault);
}

/* A file that got shorter is not sent after all: an empty piece says so. A file that got longer is
 * sent with its old length. */
static void node_sending_next_piece(struct node_sending *sending)
{
    char piece[NODE_PIECE_BYTES];
    const ssize_t count = read(sending->fd, piece, size_min(sending->left, sizeof piece));

    if (count <= 0) {
        node_sending_say(sending, NODE_CONTENT, NULL, 0);
        node_skips_add(&sending->skips, "a file", "it changed while it was copied");
        node_sending_close(sending);
        return;
    }
    node_sending_say(sending, NODE_CONTENT, piece, (size_t)count);
    sending->left -= (uint64_t)count;
    if (sending->left == 0)
        node_sending_close(sending);
}

/* A tree that was not seen whole has lost nothing for sure. */
static void node_sending_next_loss(struct node_sending *sending)
{
    const char *path =
        sending->before && directory_listing_is_complete(sending->now)
            ? directory_listing_next_loss(sending->before, sending->now, &sending->place)
            : NULL;
    struct error ignored = ERROR_INIT;

    if (!path)
        node_sending_set_state(sending, NODE_SENDING_ENTRIES);
    else if (node_entry_check_path(path, &ignored) == 0)
        node_sending_say(sending, NODE_GONE, path, strlen(path));
}

static void node_sending_next(struct node_sending *sending)
{
    if (sending->state == NODE_SENDING_LOSSES)
        node_sending_next_loss(sending);
    else if (sending->fd >= 0)
        node_sending_next_piece(sending);
    else
        node_sending_next_entry(sending);
}

static bool node_sending_has_credit(const struct node_sending *sending)
{
    return sending->state >= NODE_SENDING_LOSSES && *sending->credit >= NODE_PIECE_BYTES;
}

void node_sending_go_on(struct node_sending *sending)
{
    if (node_sending_has_credit(sending))
        ev_idle_start(sending->loop, &sending->turn);
}

/* Its turns */

static void node_sending_list(struct node_sending *sending)
{
    if (directory_listing_step(sending->now, NODE_SENDING_OPERATIONS))
        return;
    ev_idle_stop(sending->loop, &sending->turn);
    if (!directory_listing_is_complete(sending->now))
        node_skips_add(&sending->skips, "a part of it", "too many files, or too deep");
    sending->listed(sending);
}

static void node_sending_on_turn(struct ev_loop *loop, ev_idle *turn, int events)
{
    struct node_sending *sending = CONTAINER_OF(turn, struct node_sending, turn);

    (void)events;
    if (sending->state == NODE_SENDING_LISTING) {
        node_sending_list(sending);
        return;
    }
    ev_idle_stop(loop, turn);
    for (int i = 0; i < NODE_SENDING_OPERATIONS && node_sending_has_credit(sending); i++)
        node_sending_next(sending);
    node_sending_go_on(sending);
}

void node_sending_begin(struct node_sending *sending)
{
    node_sending_set_state(sending, NODE_SENDING_LISTING);
    sending->skips = (struct node_skips){0};
    sending->size = 0;
    directory_listing_free(sending->now);
    sending->now = directory_listing_new_of_all(sending->directory);
    ev_idle_start(sending->loop, &sending->turn);
}

void node_sending_go(struct node_sending *sending)
{
    node_sending_set_state(sending, NODE_SENDING_LOSSES);
    node_sending_go_on(sending);
}

void node_sending_init(struct node_sending *sending)
{
    sending->fd = -1;
    ev_idle_init(&sending->turn, node_sending_on_turn);
    ev_set_priority(&sending->turn, EV_MAXPRI); /* others do not keep it from its turn */
}

void node_sending_deinit(struct node_sending *sending)
{
    if (!sending->loop)
        return;
    node_sending_cancel(sending);
    directory_listing_free(sending->now);
    directory_listing_free(sending->before);
    sending->now = NULL;
    sending->before = NULL;
}
