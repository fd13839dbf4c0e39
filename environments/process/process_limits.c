#include "environments/process/process_limits.h"

bool process_limits_are_equal(const struct process_limits *a, const struct process_limits *b)
{
    return a->memory == b->memory && a->file_size == b->file_size && a->processes == b->processes &&
           a->nice == b->nice;
}
