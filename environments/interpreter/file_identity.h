/* Recognises a file. At least one field changes when the file is replaced or written to. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

struct file_identity {
    dev_t device;
    ino_t inode;
    struct timespec modified;
    off_t size;
};

/* Reads the identity of the file at PATH, following links. If there is none, the identity never
 * holds. */
void file_identity_read(struct file_identity *ret, const char *path);

/* True while the file at PATH is the same. */
bool file_identity_holds(const struct file_identity *identity, const char *path);

/* New reference. */
json_t *file_identity_to_json(const struct file_identity *identity);

/* An identity from invalid JSON never holds. */
void file_identity_from_json(struct file_identity *ret, const json_t *json);
