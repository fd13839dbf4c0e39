/* Code that a model has sent inside a Markdown fence:
 *
 *     ```python
 *     print(42)
 *     ```
 */
#pragma once

#include <stddef.h>

/* The language in INFO, which stands behind an opening fence: "python" of "python title=x",
 * "python:main.py", "{python}" and "{.python .numbered}". A place in INFO. */
const char *code_fence_language(const char *info, size_t length, size_t *ret_length);

/* CODE without its fence, NUL-terminated and owned by the caller. The fence leaves an empty line,
 * so that line numbers stay. NULL: CODE is not, as a whole, a fenced block of Python. A fenced
 * block can never run as it stands, so nothing is lost. */
char *code_fence_remove(const char *code, size_t length, size_t *ret_length);
