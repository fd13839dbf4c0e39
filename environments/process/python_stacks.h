/* The stacks of the threads of a Python, out of the text in which its `faulthandler` writes them. A
 * script can have made the text. */
#pragma once

#include <jansson.h>
#include <stddef.h>

enum {
    PYTHON_STACKS = 16,       /* at most; threads with equal stacks share one */
    PYTHON_STACK_FRAMES = 24, /* of each stack, at most: the innermost */
    PYTHON_STACK_NAME_BYTES = 300,
};

/* An array of {main, threads, frames}, the main thread first. `threads` is how many threads have
 * these `frames`, an array of {file, line, function}, the innermost first. Names are printable
 * ASCII. NULL when the text has none. New reference. */
json_t *python_stacks_read(const char *text, size_t length);
