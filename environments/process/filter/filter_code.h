/* A filter as a program for the kernel's BPF machine. */
#pragma once

#include "environments/process/filter/filter_branches.h"

#include <linux/filter.h>
#include <stddef.h>
#include <stdint.h>

/* A program is written from its end, because then the length of each jump is known. */
struct filter_code {
    struct sock_filter instructions[BPF_MAXINSNS];
    size_t first; /* the instructions from here on are in use */
};

/* Begins the program. Without a part it kills. */
void filter_code_init(struct filter_code *code);

/* Adds a part: calls of ARCHITECTURE (AUDIT_ARCH_X) are answered by BRANCHES. */
void filter_code_add(struct filter_code *code, uint32_t architecture,
                     const struct filter_branches *branches);

/* Ends the program after the last part. */
void filter_code_finish(struct filter_code *code);
