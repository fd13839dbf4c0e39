/* What `run_python` answers: the structured content from a run's report, and the text that a model
 * reads from the structured content. */
#pragma once

#include "environments/executor.h"

#include <jansson.h>

/* Where and within what the run was, which its report does not say. Everything is borrowed. */
struct run_setting {
    struct environment *environment;
    double timeout;
};

/* Fits schemas/run_python.output.json. New reference. */
json_t *run_result_structured(const struct run_report *report, const struct run_setting *setting);

/* The same for reading, in the form that models know from AutoGen: what went wrong as a sentence,
 * "exitcode: N (execution succeeded)", the output, the error output, what is left out, the files.
 * New reference: a string. */
json_t *run_result_text(const json_t *structured);
