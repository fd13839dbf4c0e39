#include "server/tools/python/python_tools.h"

#include "base/memory.h"
#include "server/tools/python/file_resource.h"
#include "server/tools/python/manage_sessions.h"
#include "server/tools/python/run_code_blocks.h"
#include "server/tools/python/run_many.h"
#include "server/tools/python/run_python.h"

#include <stddef.h>

static const python_tool_fn python_tools[] = {
    run_python_offer,    run_code_blocks_offer, run_many_offer,
    file_resource_offer, manage_sessions_offer,
};

int python_tools_offer(struct registry *registry, struct python_host *host, struct error *err)
{
    for (size_t i = 0; i < ARRAY_SIZE(python_tools); i++)
        if (python_tools[i](registry, host, err) < 0)
            return -1;
    return 0;
}
