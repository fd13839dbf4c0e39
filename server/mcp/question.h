/* A request to the client, from the newest shape to that of the revision it speaks. */
#pragma once

#include "server/mcp/version.h"

#include <jansson.h>

/* {method, params} as VERSION has it. New reference. */
json_t *question_translate(const json_t *question, enum mcp_version version);

/* What is needed when METHOD has to be asked, in words: "a person has to be asked". */
const char *question_need(const char *method);
