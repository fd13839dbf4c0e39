/* `run_python` as a model sees it: name, description and schemas, with the environments and limits
 * that a caller is offered. */
#pragma once

#include <jansson.h>

struct python_offer;

#define RUN_PYTHON_NAME  "run_python"
#define RUN_PYTHON_TITLE "Run Python"

/* The description of the tool for the model. Owned by the caller. */
char *run_python_description(const struct python_offer *offer);

/* schemas/run_python.input.json with environments and limits filled in. New reference. */
json_t *run_python_input_schema(const struct python_offer *offer);

/* schemas/run_python.output.json. New reference. */
json_t *run_python_output_schema(void);

/* The tool counts as destructive and open to the world. New reference. */
json_t *run_python_annotations(void);
