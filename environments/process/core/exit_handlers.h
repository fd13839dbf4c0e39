/* What libraries have to do when the process ends: atexit(3). The core's __cxa_atexit stands before
 * the C library's. */
#pragma once

#include <stdbool.h>

/* While ON in the zygote: what OpenSSL would free at the end is not freed. */
void exit_handlers_spare(bool on);
