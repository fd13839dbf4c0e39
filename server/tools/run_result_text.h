/* The text of a result, for a model. */
#pragma once

#include <jansson.h>

/* STRUCTURED (see run_result.h) in the form that models know from AutoGen: what went wrong as a
 * sentence, "exitcode: N (execution succeeded)", the output, the error output, HINTS (an array of
 * strings, each one line), the files. New reference: a string. */
json_t *run_result_text(const json_t *structured, const json_t *hints);
