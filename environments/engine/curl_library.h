/* libcurl, which is loaded when the first engine is to be used. */
#pragma once

#include "base/error.h"

/* Loads it; before engine_new. -1 with ERR where it is not installed. */
int curl_library_load(struct error *err);
