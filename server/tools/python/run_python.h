/* The tool `run_python`: runs a Python program and returns its output. */
#pragma once

#include "base/error.h"

#include <jansson.h>

struct python_host;
struct registry;

#define RUN_PYTHON_NAME  "run_python"
#define RUN_PYTHON_TITLE "Run Python"

/* schemas/run_python.output.json. New reference. */
json_t *run_python_output_schema(void);

/* The tool counts as destructive and open to the world. New reference. */
json_t *run_python_annotations(void);

/* See python_tool_fn. */
int run_python_offer(struct registry *registry, struct python_host *host, struct error *err);
