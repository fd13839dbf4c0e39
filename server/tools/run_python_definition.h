/* `run_python` as a model sees it: name, description and schemas with this server's environments
 * and limits in them. */
#pragma once

#include <jansson.h>

struct python_settings;

#define RUN_PYTHON_NAME  "run_python"
#define RUN_PYTHON_TITLE "Run Python"

/* What the model should know to use the tool well. Owned by the caller. */
char *run_python_description(const struct python_settings *settings);

/* schemas/run_python.input.json with this server's environments and limits. New reference. */
json_t *run_python_input_schema(const struct python_settings *settings);

/* schemas/run_python.output.json. New reference. */
json_t *run_python_output_schema(void);

/* It may change and reach anything that the operator has not forbidden. New reference. */
json_t *run_python_annotations(void);
