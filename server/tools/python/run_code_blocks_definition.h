/* `run_code_blocks` as a model sees it. */
#pragma once

#include <jansson.h>

struct python_offer;

#define RUN_CODE_BLOCKS_NAME  "run_code_blocks"
#define RUN_CODE_BLOCKS_TITLE "Run code blocks"

/* RULES is the operator's `code_blocks`. Owned by the caller. */
char *run_code_blocks_description(const json_t *rules);

/* schemas/run_code_blocks.input.json with environments and limits filled in. New reference. */
json_t *run_code_blocks_input_schema(const struct python_offer *offer);

/* schemas/run_code_blocks.output.json, whose results have the schema of run_python's. New
 * reference. */
json_t *run_code_blocks_output_schema(void);
