#include "server/tools/python/file_list.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/list.h"
#include "base/memory.h"
#include "environments/workplace/directory_look.h"
#include "environments/workplace/working_directory.h"
#include "server/tools/invocation.h"
#include "server/tools/python/file_resource.h"
#include "server/tools/python/file_uri.h"
#include "server/tools/python/python_caller.h"
#include "server/tools/python/python_host.h"

#include <stdlib.h>
#include <string.h>

struct file_list {
    struct invocation *invocation; /* borrowed */
    json_t *handles;               /* owned */
    size_t next;                   /* of them */
    char *after;                   /* owned: of the first directory, the path to begin behind */
    size_t most;
    struct working_directory *directory; /* a reference: the one at hand, or NULL */
    struct directory_look look;          /* at it */
};

static void file_list_free(struct file_list *list)
{
    directory_look_deinit(&list->look);
    working_directory_unref(list->directory);
    json_decref(list->handles);
    free(list->after);
    free(list);
}

static size_t file_list_room(const struct file_list *list)
{
    return list->most - json_array_size(list->invocation->result.content);
}

/* FILE, which has a path, size and type, as a resource. New reference. */
static json_t *file_list_describe(const char *handle, const json_t *file)
{
    const char *path = json_object_get_string(file, "path");
    AUTO_FREE char *uri = file_uri(handle, path);
    AUTO_FREE char *name = file_uri_name(path);

    return json_pack("{s:s, s:s, s:O, s:O}", "uri", uri, "name", name, "mimeType",
                     json_object_get(file, "mimeType"), "size", json_object_get(file, "size"));
}

/* The directory at hand has been looked at. */
static void file_list_take(struct file_list *list)
{
    AUTO_JSON json_t *files =
        directory_listing_files(list->look.now, list->after, file_list_room(list));
    const json_t *file;
    size_t i;

    json_array_foreach (files, i, file) {
        json_array_append_new(list->invocation->result.content,
                              file_list_describe(working_directory_handle(list->directory), file));
    }
    free(STEAL_PTR(list->after));
    working_directory_unref(STEAL_PTR(list->directory));
}

/* Goes through the directories. READY: there is nothing more to look at, or no more room. */
static enum outcome file_list_go_on(struct file_list *list)
{
    const json_t *handle;

    while (file_list_room(list) > 0 && (handle = json_array_get(list->handles, list->next))) {
        list->next++;
        list->directory = file_resource_directory(list->invocation->data, list->invocation->caller,
                                                  json_string_value(handle));
        if (!list->directory)
            continue;
        if (directory_look_start(&list->look, list->directory) == OUTCOME_PENDING)
            return OUTCOME_PENDING;
        file_list_take(list);
    }
    return OUTCOME_READY;
}

static void file_list_on_looked(struct directory_look *look)
{
    struct file_list *list = CONTAINER_OF(look, struct file_list, look);
    struct invocation *invocation = list->invocation;

    file_list_take(list);
    if (file_list_go_on(list) == OUTCOME_PENDING)
        return;
    file_list_free(list);
    invocation_finish(invocation);
}

/* Begins behind the file AFTER, a URI of an earlier page. */
static int file_list_seek(struct file_list *list, const char *after, struct error *err)
{
    AUTO_JSON json_t *values = after ? file_uri_read(after) : NULL;
    const char *handle = json_object_get_string(values, "working_directory");
    const json_t *known;

    if (!after)
        return 0;
    list->after = json_object_copy_string(values, "path");
    json_array_foreach (list->handles, list->next, known) {
        if (handle && strcmp(json_string_value(known), handle) == 0)
            return 0;
    }
    return error_set(err, ERROR_INVALID_PARAMS, "unknown cursor");
}

enum outcome file_list_start(struct invocation *invocation, struct error *err)
{
    struct python_host *host = invocation->data;
    struct file_list *list = NEW(struct file_list);
    enum outcome outcome = OUTCOME_FAILED;

    list->invocation = invocation;
    list->handles = known_directories(host, invocation->caller);
    list->most = (size_t)json_integer_value(json_object_get(invocation->arguments, "most"));
    directory_look_init(&list->look, host->settings.loop, file_list_on_looked);
    invocation->result.content = json_array();
    if (file_list_seek(list, json_object_get_string(invocation->arguments, "after"), err) == 0)
        outcome = file_list_go_on(list);
    if (outcome == OUTCOME_PENDING)
        invocation->work = list;
    else
        file_list_free(list);
    return outcome;
}

void file_list_cancel(struct invocation *invocation)
{
    file_list_free(invocation->work);
}
