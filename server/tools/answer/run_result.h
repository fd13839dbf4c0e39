/* The structured content of a result. */
#pragma once

#include <jansson.h>

struct run_facts;

/* Fits schemas/run_python.output.json. New reference. */
json_t *run_result_structured(const struct run_facts *facts);
