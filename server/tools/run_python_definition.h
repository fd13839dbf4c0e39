/* `run_python` as a model sees it: name, description and schemas with this server's environments
 * and limits in them. */
#pragma once

#include <jansson.h>

struct caller_rules;
struct catalog;
struct environment;

#define RUN_PYTHON_NAME  "run_python"
#define RUN_PYTHON_TITLE "Run Python"

/* What the model should know to use the tool well. Owned by the caller. */
char *run_python_description(const struct catalog *catalog, const char *default_environment);

/* ENVIRONMENT with its limits: "science (venv): 30 seconds unless ...". Owned by the caller. */
char *run_python_describe_environment(const struct environment *environment);

/* schemas/run_python.input.json with the names and limits filled in and, unless RULES is NULL, what
 * a call may define. New reference. */
json_t *run_python_input_schema(const struct catalog *catalog, const char *default_environment,
                                const struct caller_rules *rules);

/* schemas/run_python.output.json. New reference. */
json_t *run_python_output_schema(void);

/* It may change and reach anything that the operator has not forbidden. New reference. */
json_t *run_python_annotations(void);
