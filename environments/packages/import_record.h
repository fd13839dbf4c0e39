/* The imports of an environment's scripts lately, which its Pythons import ahead of the next script
 * (process/preloads.h). Each principal has a record of its own, so that no principal changes the
 * Pythons of another, or learns their imports. The records are kept for the next server, without
 * names that could not be imported:
 *
 *     STATE/imports/DIGEST.json     a file per Python, by its path */
#pragma once

#include <jansson.h>

struct import_record;
struct preloads;

/* WISH, borrowed, is the `preload` of an environment: "auto", an array of names, or "none"; NULL
 * where its type has no such key. STATE is the state directory, or NULL. */
struct import_record *import_record_new(const char *state, const json_t *wish);
void import_record_free(struct import_record *record);

/* A script of OWNER, a principal, for the Python at the path INTERPRETER imports NAMES, an array,
 * or NULL. Returns the names to import ahead of OWNER's next script, borrowed until the next call;
 * NULL: no names ever. */
struct preloads *import_record_note(struct import_record *record, const char *owner,
                                    const char *interpreter, const json_t *names);

/* For the operator: {"names": [...], "refused": {NAME: why}} of all owners. New reference. */
json_t *import_record_describe(struct import_record *record, const char *interpreter);
