/* Whether an environment has the Jupyter kernel that its configuration names. */
#pragma once

#include "base/error.h"

struct environment;

/* -1 with ERR: it names one, and this build has none. Looks at no file. */
int kernel_check_build(const struct environment *environment, struct error *err);

/* Likewise, and looks for the kernel. -1 with ERR, which says what to do: it is missing. What
 * cannot be known without preparing ENVIRONMENT, such as what an image has, is no error. */
int kernel_check(const struct environment *environment, struct error *err);
