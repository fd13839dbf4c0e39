/* One entry of a directory that is copied to a node or back, as the frame NODE_ENTRY has it: a
 * regular file, whose bytes follow in frames of their own, a folder or a link. */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

enum {
    NODE_ENTRY_PATH_BYTES = 4096, /* of a path, and of the target of a link, at most */
    NODE_ENTRY_HEAD_BYTES = 24,
    NODE_ENTRY_BYTES = NODE_ENTRY_HEAD_BYTES + 2 * (NODE_ENTRY_PATH_BYTES + 1),
};

struct node_entry {
    mode_t mode;   /* its kind and its rights */
    uint64_t size; /* of a regular file */
    struct timespec modified;
    const char *path;   /* below the directory; borrowed */
    const char *target; /* of a link; else ""; borrowed */
};

/* Writes ENTRY, whose strings are short enough. The number of bytes. */
size_t node_entry_write(char bytes[NODE_ENTRY_BYTES], const struct node_entry *entry);

/* *RET borrows from DATA, LENGTH bytes and a NUL, from an end that is not trusted. */
int node_entry_read(struct node_entry *ret, const char *data, size_t length, struct error *err);

/* Fails unless PATH, which comes from the other end, is one below the directory, as the server
 * writes its own. */
int node_entry_check_path(const char *path, struct error *err);

/* The files that were left out of a copy. */
struct node_skips {
    unsigned count;
    unsigned named;  /* of them, in ... */
    char names[512]; /* ... a list of paths with reasons: as many as fit */
};

void node_skips_add(struct node_skips *skips, const char *path, const char *why);

/* Adds the files of MORE to SKIPS. */
void node_skips_join(struct node_skips *skips, const struct node_skips *more);
