/* The receiving end of a copy: writes what comes over the wire into a directory.
 *
 * The other end is not trusted, nor is what scripts have made of the directory. A path leads down
 * from the directory, through no link; a file gets its name when it is whole; all files together
 * have a limit; what was removed there is removed here only if it is as it was sent. A file
 * that scripts only read stays as it is. */
#pragma once

#include "environments/nodes/node_entry.h"
#include "environments/nodes/node_protocol.h"
#include "environments/workplace/directory_file.h"
#include "environments/workplace/directory_listing.h"

struct node_receiving {
    int directory;    /* borrowed */
    uint64_t limit;   /* bytes of files that may still come */
    unsigned entries; /* entries that may still come */
    unsigned folders; /* that may still be made because the other end has not named them */
    struct directory_listing **known; /* borrowed: the files that the other end has, to which those
                                         are added that come; or where that is NULL */
    bool spares_changes;              /* a file stays that changed after the other end had it */
    char *const *kept; /* borrowed: names in the directory, which stay as they are; or NULL */
    struct node_skips skips;

    /* Private. */
    struct arriving_file file;
    char *path;    /* owned: where the file goes; or NULL */
    uint64_t left; /* bytes of it */
    mode_t mode;
    struct timespec modified;
};

void node_receiving_init(struct node_receiving *receiving, int directory,
                         struct directory_listing **known, uint64_t limit);

/* Takes a NODE_ENTRY, NODE_CONTENT or NODE_GONE. A file that cannot be written here
 * is skipped; -1 with ERR: the other end breaks the rules. */
int node_receiving_take(struct node_receiving *receiving, enum node_frame type, const char *data,
                        size_t length, struct error *err);

/* Nothing more comes this time: a file that is not whole is dropped, and `known` is settled. */
void node_receiving_end(struct node_receiving *receiving);
