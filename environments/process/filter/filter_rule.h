/* A filter of system calls as data. For each call its rules are tried in their order, and the first
 * rule that fits answers. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { FILTER_ALLOW = -1, FILTER_KILL = -2 };

enum { FILTER_SETDELEG = 1024 + 16 }; /* F_SETDELEG, which older headers lack */

enum filter_test {
    FILTER_ALWAYS,
    FILTER_IS,      /* the argument is the value */
    FILTER_IS_NOT,  /* the argument is not the value */
    FILTER_HAS,     /* the argument has a bit of the value */
    FILTER_HAS_NOT, /* the argument has no bit of the value */
};

struct filter_rule {
    const char *calls; /* their names, a blank between two; NULL: the end of the rules */
    int answer;        /* an errno, 0 for a success that does nothing, or FILTER_ALLOW */
    enum filter_test test;
    unsigned argument; /* its lower half is tested: the kernel, too, sees no more of an int */
    uint32_t value;
};

enum { FILTER_TABLES = 3 };

struct filter_rules {
    const char *name;                                /* in enum filter */
    const struct filter_rule *tables[FILTER_TABLES]; /* in this order; NULL after the last */
    int otherwise;                                   /* the answer to a call that no rule fits */
    int unknown;                                     /* the answer to a number without a call */
    bool is_native_only; /* programs of the machine's 32-bit architecture are killed */
};

/* Rules that several filters have. */
extern const struct filter_rule file_rules[];

extern const struct filter_rules kernel_filter;
extern const struct filter_rules process_filter;
extern const struct filter_rules sandbox_filter;
extern const struct filter_rules offline_filter;
extern const struct filter_rules zygote_filter;
extern const struct filter_rules worker_filter;
extern const struct filter_rules supervisor_filter;
extern const struct filter_rules shared_root_filter;
extern const struct filter_rules proxy_filter;
