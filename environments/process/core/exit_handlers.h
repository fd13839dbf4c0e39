/* The functions that libraries register for the end of the process: atexit(3). The core's
 * __cxa_atexit stands before the C library's. */
#pragma once

#include <stdbool.h>

/* While ON in the zygote: OpenSSL's function for the end is not registered, so it frees nothing
 * then. Without this a warm call of 4.3 ms takes 0.6 ms more (tests/bench/core_parts.py build
 * exit_handlers). */
void exit_handlers_spare(bool on);
