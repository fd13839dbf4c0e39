/* The descendants of a process, as /proc shows them. */
#pragma once

#include <sys/types.h>

/* Embedded in a structure with the data of a visit. */
struct descendants_visitor {
    void (*visit)(const struct descendants_visitor *visitor, pid_t pid, pid_t parent);
};

/* Visits the children of PARENT, or all below it, as far as they can be found. */
void descendants_visit_children(pid_t parent, const struct descendants_visitor *visitor);
void descendants_visit_all(pid_t parent, const struct descendants_visitor *visitor);

/* Sends signal NUMBER to every descendant of this process that can be found. */
void signal_descendants(int number);
