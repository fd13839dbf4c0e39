#include "server/tools/python_caller.h"

#include "base/memory.h"
#include "environments/workplace/working_directory.h"
#include "server/tools/caller.h"

#include <stdlib.h>

static const char KEY[] = "python"; /* for all tools */

static void python_caller_free(void *data)
{
    struct python_caller *kept = data;

    working_directory_unref(kept->directory);
    approvals_deinit(&kept->approvals);
    free(kept);
}

struct python_caller *python_caller_of(struct tool_caller *caller)
{
    struct python_caller *kept = tool_caller_get(caller, KEY);

    if (kept)
        return kept;
    kept = NEW(struct python_caller);
    executor_client_init(&kept->client);
    tool_caller_keep(caller, KEY, kept, python_caller_free);
    return kept;
}

struct working_directory *python_caller_open_directory(struct tool_caller *caller,
                                                       struct workplace *workplace,
                                                       const char *handle, struct error *err)
{
    const char *principal = caller->principal->name;
    struct python_caller *kept = python_caller_of(caller);

    if (handle || !caller->lasting)
        return workplace_open(workplace, principal, handle, err);
    if (!kept->directory)
        kept->directory = workplace_open(workplace, principal, NULL, err);
    return kept->directory ? working_directory_ref(kept->directory) : NULL;
}
