/* The node's half of a copy of a working directory (nodes/node_copy.h): a directory of this
 * machine, which gets what the server has, and is removed when its visit is over, or by the next
 * node.
 *
 * The limit of its growth is watched here, as the server sees it only afterwards. */
#pragma once

#include "environments/nodes/node_message.h"
#include "environments/nodes/node_receiving.h"
#include "environments/nodes/node_sending.h"
#include "environments/workplace/directory_watch.h"
#include "environments/workplace/working_directory.h"

/* Embedded in the visit. */
struct outpost_copy {
    /* Inputs. */
    struct ev_loop *loop; /* borrowed */
    size_t *credit;       /* borrowed; see node_sending */
    void (*frame)(struct outpost_copy *copy, enum node_frame type, const char *data, size_t length);
    void (*ready)(struct outpost_copy *copy); /* it has what the server has; once */
    void (*returned)(
        struct outpost_copy *copy); /* from the loop: the server has what has changed here */
    void (*exceeded)(struct outpost_copy *copy); /* it has grown beyond its limit */

    /* Private. */
    struct working_directory *directory; /* a reference; NULL: nothing is copied */
    struct directory_claim claim;
    struct directory_watch watch;
    bool is_watched;
    struct node_sending sending;
    struct node_receiving receiving;
    char *const *kept; /* borrowed from the request: what scripts only read */
    ev_timer over;     /* tells `returned` from the loop */
};

/* Makes the directory for REQUEST, below WORKPLACE. */
int outpost_copy_open(struct outpost_copy *copy, struct workplace *workplace,
                      const struct node_request *request, struct error *err);
void outpost_copy_close(struct outpost_copy *copy);

/* The directory of the server's request, here. Borrowed. */
const char *outpost_copy_path(const struct outpost_copy *copy);

/* PATH, which the server has in its directory, as it is here; owned by the caller. NULL: it lies
 * elsewhere. */
char *outpost_copy_translate(const struct outpost_copy *copy, const char *path,
                             const char *server_directory);

/* A frame of the copy has come. -1 with ERR: the server breaks the rules. */
int outpost_copy_take(struct outpost_copy *copy, enum node_frame type, const char *data,
                      size_t length, struct error *err);

/* Nothing of the visit is to be said before this: sends what has changed. */
void outpost_copy_return(struct outpost_copy *copy);

/* There is credit. */
void outpost_copy_go_on(struct outpost_copy *copy);

/* Gives the return up. `returned` does not come. */
void outpost_copy_cancel(struct outpost_copy *copy);
