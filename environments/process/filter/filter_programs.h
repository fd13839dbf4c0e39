/* The output of the filter compiler. */
#pragma once

#include <linux/filter.h>

extern const struct sock_fprog filter_programs[]; /* by enum filter */
