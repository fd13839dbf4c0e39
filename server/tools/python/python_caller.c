#include "server/tools/python/python_caller.h"

#include "base/memory.h"
#include "environments/workplace/working_directory.h"
#include "server/tools/caller.h"
#include "server/tools/python/python_host.h"

#include <stdlib.h>
#include <string.h>

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

/* The directories that it knows */

enum {
    DIRECTORIES_MOST = 16, /* of one caller */
    PRINCIPALS_MOST = 256,
};

/* Where the handles of CALLER are kept, in an object by the name of its principal. NULL: nowhere.
 */
static json_t **known_place(struct python_host *host, struct tool_caller *caller)
{
    if (caller->lasting)
        return &python_caller_of(caller)->known;
    return caller->anonymous ? NULL : &host->known;
}

/* The handles of the principal NAME in *PLACE, the last one first. Borrowed. */
static json_t *known_make(json_t **place, const char *name)
{
    json_t *handles;

    if (!*place)
        *place = json_object();
    handles = json_object_get(*place, name);
    if (handles)
        return handles;
    if (json_object_size(*place) >= PRINCIPALS_MOST)
        json_object_del(*place, json_object_iter_key(json_object_iter(*place)));
    handles = json_array();
    json_object_set_new(*place, name, handles);
    return handles;
}

void known_directories_note(struct python_host *host, struct tool_caller *caller,
                            const char *handle)
{
    json_t **place = known_place(host, caller);
    json_t *handles = place ? known_make(place, caller->principal->name) : NULL;
    json_t *known;
    size_t i;

    if (!handles)
        return;
    json_array_foreach (handles, i, known) {
        if (strcmp(json_string_value(known), handle) == 0)
            break;
    }
    (void)json_array_remove(handles, i); /* if it is there */
    json_array_insert_new(handles, 0, json_string(handle));
    (void)json_array_remove(handles, DIRECTORIES_MOST);
}

json_t *known_directories(struct python_host *host, struct tool_caller *caller)
{
    json_t **place = known_place(host, caller);
    json_t *handles = place ? json_object_get(*place, caller->principal->name) : NULL;

    return handles ? json_copy(handles) : json_array();
}
