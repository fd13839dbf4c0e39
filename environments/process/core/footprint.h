/* The memory that every script needs for itself: the pages that change when an empty script runs,
 * or a script that imports the modules imported ahead, and the code that runs then. A copy gets it
 * page by page, each by a fault, or all of it ahead of its code. Without the latter a warm call of
 * 4.1 ms takes 0.7 ms more, and a call of 9.3 ms with imports 2.6 ms more; to have it ahead costs a
 * call without imports 1.3 ms of the processors (tests/bench/core_parts.py build footprint). */
#pragma once

/* Called before any other function is registered for the end of the process. These functions run in
 * reverse order, so the footprint is read after their changes. */
void footprint_begin(void);

/* In the zygote, again when the footprint has changed: learns it from a copy that runs SHOW, which
 * ends the copy's process as a script ends. If the new footprint is too large to be had ahead, the
 * earlier one stays. */
void footprint_learn(void (*show)(void));

/* In a copy: makes the known footprint the copy's own. */
void footprint_take(void);
