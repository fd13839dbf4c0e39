/* The names that earlier scripts have defined in each working directory, so that a name that is
 * missing later can be explained. Kept for the directories that were used last. */
#pragma once

#include <jansson.h>
#include <stddef.h>

enum { EARLIER_DIRECTORIES = 64 };

struct earlier_names; /* all of them */

struct earlier_names *earlier_names_new(void);
void earlier_names_free(struct earlier_names *names);

/* CODE has run to its end in DIRECTORY, a text that names the directory and its owner. */
void earlier_names_note(struct earlier_names *names, const char *directory, const char *code,
                        size_t length);

/* An object whose keys are the names, borrowed until something is noted; NULL: none are known. */
const json_t *earlier_names_of(const struct earlier_names *names, const char *directory);
