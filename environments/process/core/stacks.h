/* The Python stacks of a worker, for who is about to end it: its supervisor asks by a signal, and a
 * copy of the worker, which the signal makes, writes them into memory that both share.
 *
 * Nothing of that is Python code, so it works while the script holds the interpreter; and nothing
 * is seen by the script, or held up for longer than the copy takes. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* In the zygote: finds the function of Python that writes stacks. */
void stacks_find_writer(void);

/* In the supervisor, before it makes its worker. */
void stacks_share(void);

/* In the worker: answers from now on, and nothing is left of that. */
void stacks_answer(void);
void stacks_leave(void);

/* In the supervisor: writes those of worker PID to TEXT, CONTROL_STACKS_BYTES of it at most, and
 * returns how many. 0: there are none to be had. Takes a tenth of a second at most. The script can
 * have made the text. */
size_t stacks_take(pid_t pid, char *text);
