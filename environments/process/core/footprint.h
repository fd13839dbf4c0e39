/* The memory that every script needs for itself: what changes when an empty one runs, or one that
 * imports what has been imported ahead, and the code that it runs. A copy gets it page by page,
 * each by a fault, or all of it ahead of its code. */
#pragma once

/* Before all others that have something to do at the end of the process: what it changes is looked
 * at after them. */
void footprint_begin(void);

/* In the zygote, again when it has changed: learns it from a copy that runs SHOW, which ends the
 * copy's process as a script ends. If that is too much to be had ahead, what was known stays. */
void footprint_learn(void (*show)(void));

/* In a copy: makes it its own, as far as it is known. */
void footprint_take(void);
