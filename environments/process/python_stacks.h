/* The stacks of the threads of a Python, out of the text in which its `faulthandler` writes them. A
 * script can have made the text. */
#pragma once

#include <jansson.h>
#include <stddef.h>

enum {
    PYTHON_STACKS = 16,       /* at most, those of equal threads being one */
    PYTHON_STACK_FRAMES = 24, /* of each, at most: the innermost */
    PYTHON_STACK_NAME_BYTES = 300,
};

/* An array of {main, threads, frames}, that of the main thread first: how many threads have these
 * FRAMES, an array of {file, line, function}, the innermost first. Names are printable ASCII. NULL
 * when the text has none. New reference. */
json_t *python_stacks_read(const char *text, size_t length);
