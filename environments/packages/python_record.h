/* Facts about Pythons, kept for the next server:
 *
 *     STATE/KIND/DIGEST.json     a file per Python, by its path
 *
 * KIND is "answers" for their answers (see python_question.h), so that the next server begins with
 * the same list of tools, and "imports" for import_record.h. A record holds as long as the file of
 * the Python is the same. */
#pragma once

#include <jansson.h>

struct file_identity;

/* The newest record of the Python at PATH. NULL: no record holds. New reference. */
json_t *python_record_load(const char *state, const char *kind, const char *path);

/* ANSWER is about the Python at PATH, which was FILE then. A failure is logged. */
void python_record_keep(const char *state, const char *kind, const char *path,
                        const struct file_identity *file, const json_t *answer);
