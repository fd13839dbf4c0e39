#include "server/tools/known_directories.h"

#include "base/memory.h"
#include "server/tools/caller.h"
#include "server/tools/python_caller.h"
#include "server/tools/python_host.h"

#include <string.h>

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
