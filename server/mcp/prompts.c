#include "server/mcp/prompts.h"

#include "base/memory.h"
#include "server/mcp/job.h"
#include "server/mcp/listing.h"
#include "server/mcp/params.h"
#include "server/mcp/peer.h"
#include "server/mcp/request.h"
#include "server/mcp/result.h"
#include "server/mcp/server.h"
#include "server/tools/prompt.h"

/* prompts/list */

/* The arguments of PROMPT; NULL for none. New reference. */
static json_t *define_arguments(const struct prompt *prompt, enum mcp_version version)
{
    static const struct result_member MEMBERS[] = {{"title", MCP_2025_06_18}};
    json_t *arguments = prompt->arguments[0].name ? json_array() : NULL;

    for (const struct prompt_argument *argument = prompt->arguments; argument->name; argument++) {
        json_t *object =
            json_pack("{s:s, s:s*, s:s*, s:b}", "name", argument->name, "title", argument->title,
                      "description", argument->description, "required", argument->required);

        result_drop_newer(object, MEMBERS, ARRAY_SIZE(MEMBERS), version);
        json_array_append_new(arguments, object);
    }
    return arguments;
}

static json_t *prompts_define(const struct registry_entry *entry,
                              const struct listing_reader *reader)
{
    static const struct result_member MEMBERS[] = {{"title", MCP_2025_06_18},
                                                   {"icons", MCP_2025_11_25}};
    const struct prompt *prompt = prompt_of(entry);
    json_t *object = json_pack("{s:s, s:s*, s:s*, s:o*, s:O*}", "name", prompt->name, "title",
                               prompt->title, "description", prompt->description, "arguments",
                               define_arguments(prompt, reader->version), "icons", prompt->icons);

    result_drop_newer(object, MEMBERS, ARRAY_SIZE(MEMBERS), reader->version);
    return object;
}

enum outcome prompts_list(struct mcp_request *request, json_t **ret, struct error *err)
{
    static const struct listing listing = {REGISTRY_PROMPTS, "prompts", prompts_define};

    return listing_answer(request, &listing, ret, err);
}

/* prompts/get */

static json_t *prompts_result(const struct job *job)
{
    const struct prompt *prompt = prompt_of(job->invocation.entry);

    return result_finish(job->server, job->version,
                         json_pack("{s:s*, s:o}", "description", prompt->description, "messages",
                                   result_messages(job->invocation.result.content, job->version)));
}

enum outcome prompts_get(struct mcp_request *request, json_t **ret, struct error *err)
{
    static const struct job_kind kind = {.result = prompts_result};
    const char *name;
    json_t *arguments;
    struct error failed = ERROR_INIT;
    struct job *job;

    if (params_name(request->params, "name", &name, err) < 0 ||
        params_arguments(request->params, &arguments, err) < 0)
        return OUTCOME_FAILED;
    job = job_new(request, &kind, name, arguments, err);
    if (!job)
        return OUTCOME_FAILED;
    if (prompt_prepare(&job->invocation, request->peer->server->registry, name, &failed) < 0)
        return job_fail(job, &failed, ret, err);
    return job_start(job, ret, err);
}
