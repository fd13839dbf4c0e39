/* The Python stacks of a worker that is about to be ended. Its supervisor asks for them by a
 * signal. The handler makes a copy of the worker, which writes them into memory shared with the
 * supervisor.
 *
 * No Python code runs, so this works while the script holds the interpreter. The script sees
 * nothing of it, and is held up only while the copy is made. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* In the zygote: finds the function of Python that writes stacks. */
void stacks_find_writer(void);

/* In the supervisor, before it makes its worker. */
void stacks_share(void);

/* In the worker: the first begins to answer, the second restores the handler and unmaps the memory.
 */
void stacks_answer(void);
void stacks_leave(void);

/* In the supervisor: writes the stacks of worker PID to TEXT, CONTROL_STACKS_BYTES at most, and
 * returns how many bytes. 0: there are no stacks to be had. Takes a tenth of a second at most. The
 * script can have made the text. */
size_t stacks_take(pid_t pid, char *text);
