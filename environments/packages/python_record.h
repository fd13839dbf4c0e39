/* The answers of Pythons (see python_question.h), kept for the next server:
 *
 *     STATE/answers/DIGEST.json     one for each Python, by its path
 *
 * Thus the first list of tools is the same from one server to the next. An answer holds as long as
 * the file is the same. */
#pragma once

#include <jansson.h>

struct file_identity;

/* What the Python at PATH has answered last. NULL: nothing that holds. New reference. */
json_t *python_record_load(const char *state, const char *path);

/* ANSWER is that of the Python at PATH, which was FILE when it was asked. A failure is logged. */
void python_record_keep(const char *state, const char *path, const struct file_identity *file,
                        const json_t *answer);
