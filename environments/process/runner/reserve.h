/* The reserve of a zygote: places that scripts can write in are kept there for its workers. The
 * zygote itself sees empty ones instead. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct program;

/* Whether PATH is in a writable place of PATHS. */
bool reserve_holds(char *const *paths, const char *path);

/* Whether PATH is below a writable place of PATHS. A file that is made there would be the
 * operator's. */
bool reserve_surrounds(char *const *paths, const char *path);

/* In the process of a zygote. The first makes its reserve at PLACE, and the current directory. The
 * second puts TREE there, the mount of the path NUMBER of PROGRAM, and makes an empty stand-in. The
 * third shows the stand-in at the path, unless an outer path has shown it. -1 with errno set. */
int reserve_open(const char *place);
int reserve_keep(size_t number, int tree, const struct program *program);
int reserve_stand_in(size_t number, const struct program *program);

/* In the supervisor of a worker, whose current directory is the reserve: a copy of the mount
 * NUMBER, without a place. -1 with errno set. */
int reserve_take(size_t number);
