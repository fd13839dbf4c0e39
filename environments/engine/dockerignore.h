/* Which files of a build's context are not sent, by the rules of .dockerignore: a pattern a line,
 * matched against whole paths; `*`, `?` and `[a-z]` within a name, `**` across any number of names;
 * a pattern for a directory matches all files in it; `!` takes back; the last line that matches
 * decides; a `#` at the start of a line makes it a comment. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct dockerignore;

enum { DOCKERIGNORE_BYTES = 64 * 1024 }; /* of a file */

/* NULL with ERR, which names the line, when a pattern of TEXT is invalid. */
struct dockerignore *dockerignore_new(const char *text, size_t length, struct error *err);
void dockerignore_free(struct dockerignore *ignore);

/* PATH is relative to the context: "folder/name". */
bool dockerignore_matches(const struct dockerignore *ignore, const char *path);

/* True when a line with `!` may match something inside the directory PATH, which is ignored: the
 * walk must go into it. */
bool dockerignore_may_take_back(const struct dockerignore *ignore, const char *path);
