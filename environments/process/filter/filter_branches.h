/* A filter's rules by the numbers of calls, as an architecture has them. */
#pragma once

#include "environments/process/filter/filter_rule.h"

#include <stddef.h>
#include <stdint.h>

enum {
    FILTER_CALLS = 470, /* above the number of every known call */
    BRANCH_TESTS_MOST = 64,
    BRANCHES_MOST = FILTER_CALLS + 3, /* and three for higher numbers */
};

/* The answer to the call FIRST, and to the calls up to the next branch. */
struct filter_branch {
    uint32_t first;
    int answer; /* if no test fits */
    size_t test_count;
    const struct filter_rule *tests[BRANCH_TESTS_MOST]; /* borrowed; the first that fits answers */
};

struct filter_branches {
    size_t count;
    struct filter_branch all[BRANCHES_MOST]; /* by number; together they have every number */
};

/* Sorts RULES for ARCHITECTURE (SCMP_ARCH_X). -1 when they name a call that no architecture has:
 * *RET_NAME is where it begins. */
int filter_branches_init(struct filter_branches *branches, const struct filter_rules *rules,
                         uint32_t architecture, const char **ret_name);
