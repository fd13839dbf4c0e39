/* Code that a model has sent inside a Markdown fence:
 *
 *     ```python
 *     print(42)
 *     ```
 */
#pragma once

#include <stddef.h>

/* CODE without its fence, NUL-terminated and owned by the caller; the fence leaves an empty line,
 * so that line numbers
 * stay. NULL: CODE is not a whole fenced block of Python. What is, cannot be a
 * Python program as it stands. */
char *code_fence_remove(const char *code, size_t length, size_t *ret_length);
