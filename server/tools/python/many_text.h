/* The results of many runs as a model reads them: how many failed, one failure whole, and the
 * output of each, cut so that all fit. */
#pragma once

#include <jansson.h>

enum { MANY_FAILURE_CHARACTERS = 6000 }; /* of the output of the failure */

/* ENTRIES fit `results` of schemas/run_many.output.json. FAILURE is the text of the run AT, or
 * NULL. Owned by the caller. */
char *many_text(const json_t *entries, const char *failure, size_t at);
