/* A Docker engine's description of itself. */
#pragma once

#include "base/error.h"

#include <jansson.h>

struct engine_address;

#define ENGINE_SURVEY_SECONDS 5.0

struct engine_survey {
    json_t *version; /* owned: what GET /version answers; NULL with ERR */
    json_t *info;    /* owned: GET /info */
    struct error err;
};

/* Asks the engine at ADDRESS (taken) and waits for the answers for ENGINE_SURVEY_SECONDS at most.
 */
void engine_survey_make(struct engine_survey *survey, struct engine_address *address);
void engine_survey_deinit(struct engine_survey *survey);
