/* The system calls of an architecture, as libseccomp knows them, and calls that are newer than the
 * libseccomp of Debian 12, so that all builds have the same filters. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FILTER_CALLS = 470 }; /* above the number of every known call */

/* The name of call NUMBER of ARCHITECTURE (SCMP_ARCH_X), owned by the caller; NULL: there is none.
 */
char *filter_call_name(uint32_t architecture, uint32_t number);

/* True when some architecture has a call NAME of LENGTH bytes. */
bool filter_call_is_known(const char *name, size_t length);
