/* Translates requests to the client from the newest revision to the client's revision, and their
 * answers back. */
#pragma once

#include "base/protocol/version.h"

#include <jansson.h>

/* {method, params} as VERSION has it. New reference. */
json_t *question_translate(const json_t *question, enum mcp_version version);

/* ANSWER of a client of VERSION to QUESTION, as the newest revision has it. New reference. */
json_t *question_restore(const json_t *question, enum mcp_version version, json_t *answer);

/* Why METHOD is sent to the client, in words: "a person has to be asked". */
const char *question_need(const char *method);
