/* Whether an environment has the Jupyter kernel that its configuration names. */
#pragma once

#include "base/error.h"

struct environment;

/* Looks for the kernel. -1 with ERR, which says what to do: it is missing. Succeeds if only a
 * preparation of ENVIRONMENT could tell, as with an image. */
int kernel_check(const struct environment *environment, struct error *err);
