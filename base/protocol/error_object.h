/* An error as clients see it. */
#pragma once

#include "base/error.h"

#include <jansson.h>

/* {code, message, data} of ERR. DATA may be NULL. New reference. */
json_t *error_object(const struct error *err, json_t *data);
