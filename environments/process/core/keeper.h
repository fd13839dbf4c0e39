/* The keeper of a worker: a process that shares the worker's memory and does nothing.
 *
 * The kernel takes the memory of a process apart before it says that the process has ended. With
 * many libraries imported ahead, those are a thousand mappings and a hundred MB in small pages, and
 * take longer than all else of a call. As long as a keeper has the memory, too, the end of the
 * worker is told at once, and the memory goes with the tree, behind the answer. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* In the zygote, before it makes a worker: notes whether the worker is to have a keeper. */
void keeper_look(void);

/* In the supervisor: its worker is to have none. */
void keeper_forgo(void);

bool keeper_is_wanted(void);

/* In the worker: makes its keeper, a child of its supervisor. 0: it has none. */
pid_t keeper_begin(void);
