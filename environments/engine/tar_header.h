/* The blocks before an entry of a tar archive: ustar, behind a pax header where a name is too long
 * or a file too large for it. */
#pragma once

#include "base/buffer.h"

#include <stdint.h>

enum {
    TAR_BLOCK_BYTES = 512,
    TAR_HEADER_LIMIT_BYTES = 16 * 1024, /* with names as long as the kernel allows */
};

enum tar_type {
    TAR_FILE = '0',
    TAR_LINK = '2', /* symbolic */
    TAR_DIRECTORY = '5',
};

struct tar_entry {
    enum tar_type type;
    const char *name; /* relative, without a slash at its end */
    const char *link; /* the target of a TAR_LINK; else NULL */
    unsigned mode;    /* permissions */
    uint64_t size;    /* of a TAR_FILE; else 0 */
    int64_t modified; /* seconds */
};

/* Appends the blocks for ENTRY, which is owned by root. */
int tar_header_append(struct buffer *buffer, const struct tar_entry *entry, struct error *err);

/* The bytes that fill the last block of SIZE bytes. */
size_t tar_padding(uint64_t size);
