/* The fenced blocks of a Markdown message, as CommonMark has them:
 *
 *     Try this:
 *     ```python
 *     print(42)
 *     ```
 */
#pragma once

#include <jansson.h>
#include <stddef.h>

/* The fenced blocks of MESSAGE in their order: an array of {"language": that of the info string
 * (code_fence.h), or "", "code": the text}, with a newline for every end of a line. Text that is
 * indented only is not a block. New reference. */
json_t *message_blocks_read(const char *message, size_t length);
