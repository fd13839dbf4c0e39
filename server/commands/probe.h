/* Kernel features, tried out one at a time for `doctor`. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { PROBE_DETAIL_BYTES = 192 };

struct probe {
    const char *name;
    const char *without; /* the consequence when it is missing */

    /* Tries it. DETAIL (PROBE_DETAIL_BYTES) gets the finding: a version, or why it is missing; it
     * may stay empty. */
    bool (*try)(char *detail);

    char *(*remedy)(void); /* when it is missing: the command that gives it (remedy.h); or NULL */
};

/* All probes in the order of the report. Static storage. */
const struct probe *probe_list(size_t *ret_count);
