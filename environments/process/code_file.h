/* Code on its way to the runner: a file in memory, without a name that anybody could open. */
#pragma once

#include "base/error.h"

#include <stddef.h>

/* A descriptor of a file with the LENGTH bytes of CODE; owned by the caller. -1 with ERR. */
int code_file_new(const char *code, size_t length, struct error *err);
