/* What the scripts of an environment have imported lately, and which of that its Pythons therefore
 * import ahead of the next one (process/preloads.h): of each principal for itself, so that nobody
 * changes another one's Pythons, or learns what is imported there. It is kept for the next server,
 * but for names that could not be imported:
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

/* A script of OWNER, a principal, for the Python at the path INTERPRETER imports NAMES, an array,
 * or NULL. Returns what is to be imported ahead of OWNER's next one; borrowed, until the next call
 * of this; NULL: nothing ever. */
struct preloads *import_record_note(struct import_record *record, const char *owner,
                                    const char *interpreter, const json_t *names);

/* For the operator: {"names": [...], "refused": {NAME: why}} of all owners. New reference. */
json_t *import_record_describe(struct import_record *record, const char *interpreter);
