/* One file in a working directory, by a path that comes from a call.
 *
 * Neither the path nor the directory is trusted: the path stays inside, no link is followed, and
 * another kind of file than a regular one is an error. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define SCRIPT_NAME  "script.py"
#define GUEST_PREFIX ".pyexecd-" /* of our files in a directory that a user lends */

struct working_directory;

/* PATH without its empty parts ("./a//b" is "a/b"). Owned by the caller. NULL with
 * ERROR_INVALID_ARGUMENTS when it names nothing below the directory. */
char *directory_file_path(const char *path, struct error *err);

/* Opens the file at PATH, from directory_file_path, for reading. Owned by the caller. */
int directory_file_open(const struct working_directory *directory, const char *path,
                        struct error *err);

/* Puts LENGTH bytes of DATA into a new file at PATH, from directory_file_path. Replaces an old file
 * there, and makes the directories above it. */
int directory_file_put(const struct working_directory *directory, const char *path,
                       const char *data, size_t length, struct error *err);

/* Opens the folder that holds PATH in the descriptor DIRECTORY, and makes missing folders.
 * *RET_NAME is the last part of PATH. Owned by the caller. */
int directory_file_parent(int directory, const char *path, const char **ret_name,
                          struct error *err);

/* The same as directory_file_put piece by piece: nothing stands at NAME in the folder PARENT before
 * the end. The caller owns it, and writes to `fd`. */
struct arriving_file {
    int parent;       /* owned */
    char *aside;      /* owned: its name until the end ... */
    bool is_nameless; /* ... which it does not have yet */
    char *name;       /* owned */
    int fd;           /* owned; -1: it is over */
};

/* Borrows PARENT. */
int directory_file_begin(struct arriving_file *file, int parent, const char *name,
                         struct error *err);

/* Gives the file its name. -1 with ERR: it is gone. */
int directory_file_finish(struct arriving_file *file, struct error *err);

/* Removes what has been written. Harmless when it is over. */
void directory_file_abandon(struct arriving_file *file);
