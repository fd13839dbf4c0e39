/* The structured content of a result, made from the report of a run. */
#pragma once

#include "environments/executor.h"

#include <jansson.h>

struct code_cleaning;

/* The setting of a run, which its report does not contain. Everything is borrowed. */
struct run_setting {
    struct environment *environment;
    double timeout;
    const struct code_cleaning *code; /* of a call; NULL: of a command */
    const char *session;              /* the handle of its session; NULL: it has none */
};

/* Fits schemas/run_python.output.json. New reference. */
json_t *run_result_structured(const struct run_report *report, const struct run_setting *setting);
