/* libcurl, loaded at the first use. */
#pragma once

#include "base/error.h"

/* Loads it; before transfers_new. -1 with ERR where it is not installed. */
int curl_library_load(struct error *err);
