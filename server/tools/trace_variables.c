#include "server/tools/trace_variables.h"

#include "base/memory.h"
#include "server/tools/invocation.h"

#include <stdlib.h>

void trace_variables_init(struct trace_variables *variables, const struct invocation *invocation)
{
    *variables = (struct trace_variables){0};
    if (!invocation->trace)
        return;
    variables->parent = memory_format("TRACEPARENT=%s", invocation->trace);
    variables->list[0] = variables->parent;
    if (!invocation->trace_state)
        return;
    variables->state = memory_format("TRACESTATE=%s", invocation->trace_state);
    variables->list[1] = variables->state;
}

void trace_variables_deinit(struct trace_variables *variables)
{
    free(variables->parent);
    free(variables->state);
}
