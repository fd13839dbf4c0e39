/* The sending end of a copy: a directory, or its changes since the last time, go over the wire as
 * frames, while there is credit, a little in each turn of the loop.
 *
 * The directory belongs to scripts, which may work in it meanwhile. It is listed a little at a time
 * (directory_listing.h); no link is followed; what is neither a file nor a folder nor a link,
 * cannot be read or lies too deep is left out and told. */
#pragma once

#include "environments/nodes/node_entry.h"
#include "environments/nodes/node_protocol.h"
#include "environments/workplace/directory_listing.h"

#include <ev.h>
#include <stdbool.h>

enum node_sending_state {
    NODE_SENDING_RESTING,
    NODE_SENDING_LISTING,
    NODE_SENDING_LOSSES,  /* tells what is not there any more */
    NODE_SENDING_ENTRIES, /* waits for credit, between entries or in one */
};

struct node_sending {
    /* Inputs. */
    struct ev_loop *loop; /* borrowed */
    int directory;        /* borrowed */
    size_t *credit;       /* borrowed: bytes that may be said */
    uint64_t limit;       /* bytes of all files: more are left out */
    void (*frame)(struct node_sending *sending, enum node_frame type, const char *data,
                  size_t length);
    void (*listed)(struct node_sending *sending); /* `now` is known, and nothing is said yet; to go
                                                     on or to be cancelled */
    void (*done)(struct node_sending *sending);   /* all is said; from the loop */

    struct directory_listing *now;    /* owned: a look that is under way, or in `listed`; or NULL */
    struct directory_listing *before; /* owned: what the other end has; NULL: nothing */
    struct node_skips skips;          /* of this time */

    /* Private. */
    enum node_sending_state state;
    ev_idle turn;
    size_t place; /* in the listing */
    int fd;       /* owned: the file that is being sent; or -1 */
    uint64_t left;
    uint64_t size; /* of all files so far */
};

void node_sending_init(struct node_sending *sending);
void node_sending_deinit(struct node_sending *sending);

/* Lists the directory, then calls `listed`, never from inside. */
void node_sending_begin(struct node_sending *sending);

/* In `listed`: says what the other end does not have. */
void node_sending_go(struct node_sending *sending);

/* There is credit. */
void node_sending_go_on(struct node_sending *sending);

/* Stops in every state. */
void node_sending_cancel(struct node_sending *sending);
