/* Finds processes in the PID namespace of a zygote beside its first process and its workers. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* In the zygote: whether the zygote, or a library that it has loaded, has left a process there.
 * Process STAND_IN does not count. */
bool company_is_left(pid_t stand_in);
