#include "server/tools/python_caller.h"

#include "base/memory.h"
#include "environments/workplace/working_directory.h"
#include "server/tools/caller.h"

#include <stdlib.h>

static const char KEY[] = "python"; /* for all tools */

static void python_caller_free(void *data)
{
    struct python_caller *kept = data;

    recurrence_end(&kept->recurrence);
    for (int i = 0; i < ISOLATIONS; i++)
        working_directory_unref(kept->directories[i]);
    approvals_deinit(&kept->approvals);
    json_decref(kept->known);
    free(kept);
}

struct python_caller *python_caller_of(struct tool_caller *caller)
{
    struct python_caller *kept = tool_caller_get(caller, KEY);

    if (kept)
        return kept;
    kept = NEW(struct python_caller);
    executor_client_init(&kept->client);
    recurrence_init(&kept->recurrence);
    tool_caller_keep(caller, KEY, kept, python_caller_free);
    return kept;
}

/* Nobody can know whether a client keeps its connection until its next call. */
bool python_caller_needs_handle(struct tool_caller *caller, enum isolation isolation)
{
    bool *has_handle = &python_caller_of(caller)->has_handle[isolation];
    bool needs_handle = !caller->lasting || !*has_handle;

    *has_handle = true;
    return needs_handle;
}

struct working_directory *python_caller_open_directory(struct tool_caller *caller,
                                                       struct workplace *workplace,
                                                       enum isolation isolation, const char *handle,
                                                       struct error *err)
{
    const char *principal = caller->principal->name;
    struct working_directory **kept = &python_caller_of(caller)->directories[isolation];

    if (handle || !caller->lasting)
        return workplace_open(workplace, principal, isolation, handle, err);
    if (!*kept)
        *kept = workplace_open(workplace, principal, isolation, NULL, err);
    return *kept ? working_directory_ref(*kept) : NULL;
}
