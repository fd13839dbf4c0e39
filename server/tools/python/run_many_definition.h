/* `run_many` as a model sees it. */
#pragma once

#include <jansson.h>

struct python_offer;

#define RUN_MANY_NAME  "run_many"
#define RUN_MANY_TITLE "Run many programs"
#define RUN_MANY_DESCRIPTION                                                                       \
    "Runs Python once for each of many inputs, several at a time, each in a fresh process, and "   \
    "returns the output of each. A run that fails costs only itself.\n"                            \
    "- `code` with `inputs`: one program that defines main(input). Or `programs`: several.\n"      \
    "- All work in one directory at the same time: a file that a run writes needs a name of its "  \
    "own. There is no input() and no screen, and pictures are not shown."

/* schemas/run_many.input.json with environments and limits filled in. New reference. */
json_t *run_many_input_schema(const struct python_offer *offer);

/* schemas/run_many.output.json, whose results have the schema of run_python's. New reference. */
json_t *run_many_output_schema(void);
