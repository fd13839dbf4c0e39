/* The server's half of the copy that a node has of a working directory (`files: copied`): its files
 * go over before code begins, and changed files come back.
 *
 * The directory is listed before anything is said, so that nothing goes over in vain. For each cell
 * of a session the changes go over. */
#pragma once

#include "environments/nodes/node_link.h"
#include "environments/nodes/node_receiving.h"
#include "environments/nodes/node_sending.h"

struct node_copy {
    /* Inputs. */
    struct ev_loop *loop;                   /* borrowed */
    struct node_stay *stay;                 /* borrowed */
    size_t *credit;                         /* borrowed; see node_sending */
    uint64_t growth;                        /* bytes by which files may grow there */
    char *const *kept;                      /* borrowed: see node_receiving */
    void (*listed)(struct node_copy *copy); /* node_copy_go() is to be called */
    void (*sent)(struct node_copy *copy);   /* the node has all */
    void (*failed)(struct node_copy *copy,
                   const char *why); /* the node, or the directory is too large */

    /* Private. */
    int directory; /* owned; -1: nothing is copied */
    struct node_sending sending;
    struct node_receiving receiving;
    struct node_skips skips; /* that are not told yet */
    bool is_returning;       /* files come back */
    unsigned returns;        /* since the last cell has ended */
    ev_timer patience; /* with a node that lives, and takes or gives no files, or does not end */
};

/* DIRECTORY is copied. A copy that is not open has its `directory` -1. */
int node_copy_open(struct node_copy *copy, int directory, struct error *err);
void node_copy_close(struct node_copy *copy);

static inline bool node_copy_is_open(const struct node_copy *copy)
{
    return copy->directory >= 0;
}

/* Sends what the node does not have: `listed`, `sent` or `failed` come, never from inside. */
void node_copy_begin(struct node_copy *copy);

/* In `listed`. */
void node_copy_go(struct node_copy *copy);

/* The bytes of files that may come back; after `listed`. */
uint64_t node_copy_limit(const struct node_copy *copy);

/* There is credit. */
void node_copy_go_on(struct node_copy *copy);

/* A frame of the copy has come. */
void node_copy_take(struct node_copy *copy, enum node_frame type, const char *data, size_t length);

/* True while files come back. */
bool node_copy_is_returning(const struct node_copy *copy);

/* The end of the cell behind the files has come. */
void node_copy_end_cell(struct node_copy *copy);

/* The files that were left out, either way, for people and models. Owned by the caller; NULL:
 * nothing. Once. */
char *node_copy_tell(struct node_copy *copy);
