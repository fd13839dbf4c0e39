/* The memory that every script needs for itself: what changes when an empty one runs, and the code
 * that it runs. A copy gets it page by page, each by a fault, or all of it ahead of its code. */
#pragma once

/* Before all others that have something to do at the end of the process: what it changes is looked
 * at after them. */
void footprint_begin(void);

/* In the zygote, again when it has changed: learns it from a copy that runs SHOW, which ends the
 * copy's process as a script ends. */
void footprint_learn(void (*show)(void));

/* In a copy: makes it its own, as far as it is known. */
void footprint_take(void);
