/* The text of a result, for a model. */
#pragma once

#include <jansson.h>

struct run_facts;
struct run_output;

/* FACTS in the form that models know from AutoGen: the failure as a
 * sentence, "exitcode: N (execution succeeded)", the output, the error output, where the rest of
 * OUTPUT is, HINTS (an array of strings, each one line), the files, and, unless they are NULL, the
 * HANDLE and the PATH of their directory. New reference: a string. */
json_t *run_result_text(const struct run_facts *facts, const struct run_output *output,
                        const json_t *hints, const char *handle, const char *path);
