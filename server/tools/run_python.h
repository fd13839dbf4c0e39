/* The tool `run_python`: runs a Python program and returns its output. Its description and schemas
 * name the environments and limits that a caller is offered. */
#pragma once

#include "base/error.h"

#include <jansson.h>

struct python_host;
struct python_offer;
struct registry;

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

/* See python_tool_fn. */
int run_python_offer(struct registry *registry, struct python_host *host, struct error *err);
