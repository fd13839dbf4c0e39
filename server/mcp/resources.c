#include "server/mcp/resources.h"

#include "base/json.h"
#include "base/memory.h"
#include "server/mcp/job.h"
#include "server/mcp/listing.h"
#include "server/mcp/params.h"
#include "server/mcp/peer.h"
#include "server/mcp/request.h"
#include "server/mcp/result.h"
#include "server/mcp/server.h"
#include "server/tools/resource.h"

#include <string.h>

/* Lists */

static const struct result_member RESOURCE_MEMBERS[] = {{"title", MCP_2025_06_18},
                                                        {"icons", MCP_2025_11_25}};

/* The members that resources and templates share; URI_MEMBER is the name of the URI's member. */
static json_t *resources_define(const struct resource *resource, const char *uri_member,
                                enum mcp_version version)
{
    json_t *object = json_pack(
        "{s:s, s:s, s:s*, s:s*, s:s*, s:O*, s:O*}", uri_member, resource->uri, "name",
        resource->name, "title", resource->title, "description", resource->description, "mimeType",
        resource->mime_type, "annotations", resource->annotations, "icons", resource->icons);

    result_drop_newer(object, RESOURCE_MEMBERS, ARRAY_SIZE(RESOURCE_MEMBERS), version);
    result_drop_newer_annotations(object, version);
    return object;
}

static json_t *define_resource(const struct registry_entry *entry,
                               const struct listing_reader *reader)
{
    const struct resource *resource = resource_of(entry);
    json_t *object = resources_define(resource, "uri", reader->version);

    if (resource->size >= 0)
        json_object_set_new(object, "size", json_integer(resource->size));
    return object;
}

static json_t *define_template(const struct registry_entry *entry,
                               const struct listing_reader *reader)
{
    return resources_define(resource_of(entry), "uriTemplate", reader->version);
}

/* Resources that templates stand for come from a lister, for one caller, and change at any time.
 * The first page begins with the registered resources, which are few beside a lister's. A cursor is
 * the last URI of the page before, which names the replica that has the list. */

static size_t resources_page_size(const struct mcp_server *server)
{
    return server->page_size > 0 ? server->page_size : LISTING_PAGE_SIZE;
}

static json_t *resources_registered(const struct job *job)
{
    const struct registry *registry = job->server->registry;
    const struct listing_reader reader = {.version = job->version};
    json_t *resources = json_array();

    for (size_t i = 0; i < registry_count(registry, REGISTRY_RESOURCES); i++)
        json_array_append_new(
            resources, define_resource(registry_at(registry, REGISTRY_RESOURCES, i), &reader));
    return resources;
}

/* The lister was asked for one more than a page holds. */
static json_t *resources_listed(const struct job *job)
{
    size_t most = resources_page_size(job->server);
    const json_t *listed = job->invocation.result.content;
    bool is_first = !json_object_get(job->params, "cursor");
    json_t *resources = is_first ? resources_registered(job) : json_array();
    json_t *result = json_pack("{s:o}", "resources", resources);
    json_t *resource;
    size_t i;

    json_array_foreach (listed, i, resource) {
        json_t *known = json_copy(resource);

        if (i == most) {
            const json_t *last = json_array_get(listed, i - 1);

            json_object_set(result, "nextCursor", json_object_get(last, "uri"));
            json_decref(known);
            break;
        }
        result_drop_newer(known, RESOURCE_MEMBERS, ARRAY_SIZE(RESOURCE_MEMBERS), job->version);
        json_array_append_new(resources, known);
    }
    return result_finish_cacheable(job->server, job->version, result, &result_caching_contents);
}

static enum outcome resources_ask_lister(struct mcp_request *request, json_t **ret,
                                         struct error *err)
{
    static const struct job_kind kind = {.result = resources_listed};
    const struct mcp_server *server = request->peer->server;
    const json_t *cursor = json_object_get(request->params, "cursor");
    const char *after = json_string_value(cursor);
    struct job *job;

    if (cursor && !after) {
        error_set(err, ERROR_INVALID_PARAMS, "unknown cursor");
        return OUTCOME_FAILED;
    }
    job = job_new(request, &kind, "resources", NULL, err);
    if (!job)
        return OUTCOME_FAILED;
    resource_prepare_list(&job->invocation, server->registry, after,
                          resources_page_size(server) + 1);
    return job_start(job, ret, err);
}

enum outcome resources_list(struct mcp_request *request, json_t **ret, struct error *err)
{
    static const struct listing listing = {REGISTRY_RESOURCES, "resources", define_resource};

    if (registry_count(request->peer->server->registry, REGISTRY_LISTERS) > 0)
        return resources_ask_lister(request, ret, err);
    return listing_answer(request, &listing, ret, err);
}

enum outcome resources_list_templates(struct mcp_request *request, json_t **ret, struct error *err)
{
    static const struct listing listing = {REGISTRY_TEMPLATES, "resourceTemplates",
                                           define_template};

    return listing_answer(request, &listing, ret, err);
}

/* resources/read */

static json_t *resources_result(const struct job *job)
{
    return result_finish_cacheable(
        job->server, job->version,
        json_pack("{s:o}", "contents",
                  result_contents(job->invocation.result.content, job->version)),
        &result_caching_contents);
}

/* Up to 2025-11-25 a missing resource has an error code of its own. */
static void resources_explain(struct job *job, struct error *err)
{
    if (err->code != ERROR_UNKNOWN_RESOURCE)
        return;
    job->request->error_data = json_pack("{s:O}", "uri", json_object_get(job->params, "uri"));
    if (mcp_version_is_modern(job->version)) {
        err->code = ERROR_INVALID_PARAMS;
        error_prefix(err, "unknown resource");
    }
}

enum outcome resources_read(struct mcp_request *request, json_t **ret, struct error *err)
{
    static const struct job_kind kind = {.result = resources_result, .explain = resources_explain};
    const char *uri;
    struct error failed = ERROR_INIT;
    struct job *job;

    if (params_name(request->params, "uri", &uri, err) < 0)
        return OUTCOME_FAILED;
    job = job_new(request, &kind, uri, NULL, err);
    if (!job)
        return OUTCOME_FAILED;
    if (resource_prepare(&job->invocation, request->peer->server->registry, uri, &failed) < 0)
        return job_fail(job, &failed, ret, err);
    return job_start(job, ret, err);
}
