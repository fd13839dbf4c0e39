/* Which file it was: none of these stays the same when another one takes its place, or when it is
 * written to. */
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

/* Of the file at PATH, where links lead to; of one that is not there it never holds. */
void file_identity_read(struct file_identity *ret, const char *path);

/* The file at PATH is still that one. */
bool file_identity_holds(const struct file_identity *identity, const char *path);

/* For keeping it. New reference. */
json_t *file_identity_to_json(const struct file_identity *identity);

/* What is no such thing never holds. */
void file_identity_from_json(struct file_identity *ret, const json_t *json);
