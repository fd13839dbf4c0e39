/* What is known of Pythons, kept for the next server:
 *
 *     STATE/KIND/DIGEST.json     one for each Python, by its path
 *
 * KIND is "answers" for what they have said (see python_question.h), so that the first list of
 * tools is the same from one server to the next, and "imports" for import_record.h. It holds as
 * long as the file of the Python is the same. */
#pragma once

#include <jansson.h>

struct file_identity;

/* What was kept last of the Python at PATH. NULL: nothing that holds. New reference. */
json_t *python_record_load(const char *state, const char *kind, const char *path);

/* ANSWER is about the Python at PATH, which was FILE then. A failure is logged. */
void python_record_keep(const char *state, const char *kind, const char *path,
                        const struct file_identity *file, const json_t *answer);
