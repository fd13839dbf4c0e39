#include "server/tools/python/file_resource.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "environments/environment.h"
#include "environments/executor.h"
#include "environments/workplace/directory_file.h"
#include "environments/workplace/mime_type.h"
#include "environments/workplace/working_directory.h"
#include "server/tools/caller.h"
#include "server/tools/python/file_list.h"
#include "server/tools/python/file_range.h"
#include "server/tools/python/file_uri.h"
#include "server/tools/python/python_host.h"
#include "server/tools/python/python_offer.h"
#include "server/tools/resource.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define LISTER     "pyexecd:"
#define RANGE_KEY  "pyexecd/range"
#define PLAIN_TEXT "text/plain"

/* The owners of files */

/* Bits: the isolations of environments whose runs PRINCIPAL may start without approval. */
static unsigned file_resource_isolations(const struct python_settings *settings,
                                         const struct principal *principal)
{
    const struct python_offer offer = python_offer_for(settings, principal);
    const struct environment *environment;
    size_t position = 0;
    unsigned isolations = 0;

    while ((environment = python_offer_next(&offer, &position))) {
        if (environment->settings.approval == APPROVAL_NEVER)
            isolations |= 1U << environment_isolation(environment);
    }
    return isolations;
}

struct working_directory *file_resource_directory(struct python_host *host,
                                                  struct tool_caller *caller, const char *handle)
{
    return workplace_find(host->settings.workplace, caller->principal->name,
                          file_resource_isolations(&host->settings, caller->principal), handle);
}

/* Reading */

/* The answer for a missing file is the same as for another caller's file. */
static int file_resource_fail(const char *uri, const struct error *why, struct error *err)
{
    if (why->number == ENOENT || why->number == ENOTDIR || why->number == ENAMETOOLONG)
        return error_set(err, ERROR_UNKNOWN_RESOURCE, "%s", uri);
    return error_set(err, ERROR_INVALID_PARAMS, "%s", why->message);
}

/* Opens the file PATH in a directory of the caller. */
static int file_resource_open(const struct invocation *invocation, const char *handle,
                              const char *path, struct error *err)
{
    struct working_directory *directory =
        file_resource_directory(invocation->data, invocation->caller, handle);
    struct error why = {.number = ENOENT};
    int fd = directory ? directory_file_open(directory, path, &why) : -1;

    working_directory_unref(directory);
    if (fd < 0)
        file_resource_fail(json_object_get_string(invocation->arguments, "uri"), &why, err);
    return fd;
}

/* For programs; a model may be shown the contents only. */
static json_t *file_resource_describe_range(const struct file_range *range)
{
    return json_pack("{s:{s:I, s:I, s:I}}", RANGE_KEY,              //
                     "offset", (json_int_t)range->offset, "length", //
                     (json_int_t)range->length, "size", (json_int_t)range->size);
}

static void file_resource_add(struct invocation *invocation, const char *path,
                              const struct file_range *range)
{
    const char *uri = json_object_get_string(invocation->arguments, "uri");
    const char *mime_type = mime_type_of_path(path);
    bool is_unknown = strcmp(mime_type, MIME_TYPE_UNKNOWN) == 0;

    if (range->is_text)
        resource_add_text(invocation, uri, is_unknown ? PLAIN_TEXT : mime_type, range->bytes,
                          range->length);
    else
        resource_add_bytes(invocation, uri, mime_type, range->bytes, range->length);
    json_object_set_new(json_array_get(invocation->result.content, 0), "_meta",
                        file_resource_describe_range(range));
}

/* A second piece of contents says how to get the rest, where a client did not ask for a part. */
static void file_resource_add_word(struct invocation *invocation, const char *handle,
                                   const char *path, const struct file_range *range)
{
    uint64_t end = range->offset + range->length;
    AUTO_FREE char *uri = file_uri(handle, path);
    AUTO_FREE char *next = memory_format("%s?offset=%" PRIu64, uri, end);
    AUTO_FREE char *word = memory_format("The file has %" PRIu64 " bytes, and these were %" PRIu64
                                         " to %" PRIu64 ". The next ones are at %s",
                                         range->size, range->offset, end - 1, next);

    resource_add_text(invocation, next, PLAIN_TEXT, word, strlen(word));
}

static int file_resource_read(struct invocation *invocation, struct file_range *range,
                              struct error *err)
{
    const json_t *values = invocation->arguments;
    const char *handle = json_object_get_string(values, "working_directory");
    AUTO_FREE char *path = directory_file_path(json_object_get_string(values, "path"), err);
    AUTO_CLOSE int fd = -1;

    if (!path || file_range_parse(range, values, err) < 0)
        return -1;
    fd = file_resource_open(invocation, handle, path, err);
    if (fd < 0 || file_range_read(range, fd, err) < 0)
        return -1;
    file_resource_add(invocation, path, range);
    if (!json_object_get(values, "length") && file_range_has_more(range))
        file_resource_add_word(invocation, handle, path, range);
    return 0;
}

static enum outcome file_resource_start(struct invocation *invocation, struct error *err)
{
    struct file_range range = {0};
    int ret = file_resource_read(invocation, &range, err);

    file_range_deinit(&range);
    if (ret < 0 && err->code == ERROR_INVALID_ARGUMENTS)
        err->code = ERROR_INVALID_PARAMS;
    return ret < 0 ? OUTCOME_FAILED : OUTCOME_READY;
}

/* Watching */

void file_resource_tell(struct python_host *host, const struct tool_caller *caller,
                        const struct run_report *report)
{
    bool is_shared = workplace_path(host->settings.workplace) != NULL;
    struct registry_update update = {.principal = is_shared ? NULL : caller->principal->name};
    const json_t *file;
    size_t i;

    if (!host->registry)
        return; /* no files are offered */
    json_array_foreach (report->files, i, file) {
        AUTO_FREE char *uri =
            file_uri(report->working_directory, json_object_get_string(file, "path"));

        update.uri = uri;
        registry_tell_update(host->registry, &update);
    }
    if (report->has_removed_files || !report->files_are_complete) {
        AUTO_FREE char *folder = file_uri(report->working_directory, "");

        update.uri = folder;
        registry_tell_update(host->registry, &update);
    }
}

/* Offering */

int file_resource_offer(struct registry *registry, struct python_host *host, struct error *err)
{
    const struct resource template = {
        .uri = FILE_URI_TEMPLATE,
        .name = "working_directory_file",
        .title = "File of a run",
        .description = "A file in a working directory of run_python: the `working_directory` of a "
                       "result, and a path in it. A large file comes in pieces; `offset` and "
                       "`length` count bytes.",
        .data = host,
        .start = file_resource_start,
    };
    const struct resource lister = {
        .uri = LISTER,
        .name = "working_directory_files",
        .data = host,
        .start = file_list_start,
        .cancel = file_list_cancel,
    };

    host->registry = registry;
    if (registry_find(registry, REGISTRY_TEMPLATES, template.uri))
        return 0;
    if (resource_register_template(registry, &template, err) < 0)
        return -1;
    return resource_register_lister(registry, &lister, err);
}
