/* The limits of a process and of everything that it starts. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct process_limits {
    uint64_t memory;    /* bytes, all processes together where a cgroup exists, else each */
    uint64_t file_size; /* bytes a single file may grow to */
    unsigned processes; /* processes and threads */
    unsigned nice;      /* added to the niceness of the server */
};

/* Compares every member: a Python that waits was started with these limits. */
static inline bool process_limits_are_equal(const struct process_limits *a,
                                            const struct process_limits *b)
{
    return a->memory == b->memory && a->file_size == b->file_size && a->processes == b->processes &&
           a->nice == b->nice;
}
