#include "server/mcp/resources.h"

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

/* The members that resources and templates share; URI_MEMBER is the name of the URI's member. */
static json_t *resources_define(const struct resource *resource, const char *uri_member,
                                enum mcp_version version)
{
    static const struct result_member MEMBERS[] = {{"title", MCP_2025_06_18},
                                                   {"icons", MCP_2025_11_25}};
    json_t *object = json_pack(
        "{s:s, s:s, s:s*, s:s*, s:s*, s:O*, s:O*}", uri_member, resource->uri, "name",
        resource->name, "title", resource->title, "description", resource->description, "mimeType",
        resource->mime_type, "annotations", resource->annotations, "icons", resource->icons);

    result_drop_newer(object, MEMBERS, ARRAY_SIZE(MEMBERS), version);
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

enum outcome resources_list(struct mcp_request *request, json_t **ret, struct error *err)
{
    static const struct listing listing = {REGISTRY_RESOURCES, "resources", define_resource};

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
