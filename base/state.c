#include "base/state.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/memory.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>

void state_change(const struct state *states, unsigned from, unsigned to, const char *format, ...)
{
    AUTO_FREE char *owner = NULL;
    va_list arguments;

    assert(states[from].next & 1U << to);
    if (!log_wants(LOG_LEVEL_DEBUG))
        return;
    va_start(arguments, format);
    owner = memory_format_list(format, arguments);
    va_end(arguments);
    log_debug("%s: %s -> %s", owner, states[from].name, states[to].name);
}
