#include "server/tool_source.h"

#include <stddef.h>

struct tool_source *tool_source_open(struct ev_loop *loop)
{
    (void)loop;
    return NULL;
}

void tool_source_close(struct tool_source *source)
{
    (void)source;
}
