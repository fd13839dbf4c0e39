/* The id of a request that the parser refuses: a client that gets an error without the id waits for
 * ever. */
#pragma once

#include "base/protocol/scan.h"

#include <stddef.h>

/* As JSON, or NULL when there is none to be found. Ill-formed UTF-8, and escapes that stand for
 * half a character or for a NUL, are repaired to find it. SCAN has been over TEXT. Owned by the
 * caller. */
char *salvage_id(const char *text, size_t length, const struct scan *scan);
