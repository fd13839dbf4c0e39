/* Input: a traceparent and, on a line of its own, a tracestate. What is taken of them is handed on
 * in a form that is taken again, of the same trace; a state is handed on as it is, or not at all.
 */
#include "base/cleanup.h"
#include "base/memory.h"
#include "server/tools/trace.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_FREE char *text = memory_format("%.*s", (int)size, (const char *)data);
    char *state = strchr(text, '\n');
    char id[TRACE_ID_DIGITS + 1];
    char same[TRACE_ID_DIGITS + 1];
    struct trace trace;
    struct trace next;

    if (state)
        *state++ = '\0';
    if (!trace_follow(&trace, text, state)) {
        assert(!*trace.parent && !*trace.state);
        return 0;
    }
    assert(!*trace.state || strcmp(trace.state, state) == 0);
    assert(trace_follow(&next, trace.parent, trace.state));
    assert(strcmp(next.state, trace.state) == 0);
    assert(strcmp(next.parent, trace.parent) != 0);
    trace_read_id(text, id);
    trace_read_id(next.parent, same);
    assert(strcmp(id, same) == 0);
    return 0;
}
