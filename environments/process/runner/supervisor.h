/* The supervisor of a tree: it runs a program, watches it, and reports its end. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

struct program;
struct runner_preparation;

/* A program that waits writes this word to its gate, or only the mark if it has no keeper. */
struct gate_word {
    char mark;
    pid_t keeper; /* shares the memory of the program (core/keeper.h); 0: it has none */
};

/* A way to start a program. */
struct program_start {
    /* Makes a child that becomes PROGRAM: -1 with errno when there is none. *RET_FD reports the
     * start: end-of-file when the program runs, else a text. */
    pid_t (*start)(const struct program *program, const struct runner_preparation *preparation,
                   int *ret_fd);

    /* Writes the Python stacks of PROGRAM, CONTROL_STACKS_BYTES at most, to TEXT, and returns the
     * number of bytes; 0: it has no stacks now. NULL: it never has stacks. */
    size_t (*stacks)(pid_t program, char *text);

    /* Called once, when the tree is empty but for its supervisor and its end has been reported.
     * NULL: there is nothing to do then. */
    void (*end)(void);
};

/* Runs PROGRAM by START. If PROGRAM is NULL, waits for one CONTROL_RUN and runs its program.
 * Reports. */
_Noreturn void supervise(const struct runner_preparation *preparation,
                         const struct program_start *start, const struct program *program);
