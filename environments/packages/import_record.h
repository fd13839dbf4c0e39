/* What the scripts of an environment have imported lately, and which of that its Pythons therefore
 * import ahead of the next one (process/preloads.h). It is kept for the next server:
 *
 *     STATE/imports/DIGEST.json     one for each Python, by its path
 */
#pragma once

#include <jansson.h>

struct import_record;
struct preloads;

/* WISH, borrowed, is the `preload` of an environment: "none", an array of names, or "auto" or NULL.
 * STATE is the state directory, or NULL. */
struct import_record *import_record_new(const char *state, const json_t *wish);
void import_record_free(struct import_record *record);

/* A script for the Python at the path INTERPRETER imports NAMES, an array, or NULL. Returns what
 * is to be imported ahead of the next one; borrowed, NULL: nothing ever. */
struct preloads *import_record_note(struct import_record *record, const char *interpreter,
                                    const json_t *names);

/* The same without a script. */
struct preloads *import_record_look(struct import_record *record, const char *interpreter);
