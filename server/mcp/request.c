#include "server/mcp/request.h"

#include "server/mcp/headers.h"
#include "server/mcp/job.h"
#include "server/mcp/method.h"
#include "server/mcp/params.h"
#include "server/mcp/peer.h"
#include "server/mcp/subscriptions.h"
#include "server/mcp/task.h"

#include <string.h>

enum { METHOD_SHOWN_BYTES = 64 };

static bool is_method(const struct mcp_request *request, const char *name)
{
    return strcmp(request->method, name) == 0;
}

enum mcp_era mcp_era_of(const char *method, const json_t *params)
{
    if (strcmp(method, "initialize") == 0 && !envelope_is_modern(params))
        return MCP_ERA_HANDSHAKE;
    return envelope_is_claimed(params) ? MCP_ERA_MODERN : MCP_ERA_ANY;
}

/* Chooses the version of a request that comes before `initialize`. */
static int choose_first_version(struct mcp_request *request, struct error *err)
{
    if (is_method(request, "ping")) {
        request->version = MCP_2025_11_25;
        return 0;
    }
    if (is_method(request, "server/discover"))
        return error_set(err, ERROR_ENVELOPE,
                         "_meta must name the protocol version and the client's capabilities");
    return error_set(err, ERROR_INVALID_REQUEST, "server not initialized; send initialize first");
}

/* Refuses a request without the envelope that its header fields announce. */
static int refuse_stateless(enum mcp_era era, struct error *err)
{
    if (era == MCP_ERA_HANDSHAKE)
        return error_set(err, ERROR_HEADER_MISMATCH,
                         "the MCP-Protocol-Version of the header has no initialize");
    return error_set(err, ERROR_ENVELOPE,
                     "_meta must name the protocol version and the client's capabilities");
}

static int mcp_choose_version(struct mcp_request *request, struct error *err)
{
    enum mcp_era era = mcp_era_of(request->method, request->params);

    if (request->in_batch && era != MCP_ERA_ANY)
        return error_set(err, ERROR_INVALID_REQUEST, "not allowed in a batch");
    if (era == MCP_ERA_MODERN)
        return envelope_read(request, err) < 0 ? -1 : headers_check_method(request, err);
    if (request->peer->stateless)
        return refuse_stateless(era, err);
    if (era == MCP_ERA_HANDSHAKE) {
        request->version = MCP_2025_11_25;
        return 0;
    }
    if (request->peer->negotiated == MCP_VERSION_NONE)
        return choose_first_version(request, err);
    request->version = request->peer->negotiated;
    request->capabilities = request->peer->capabilities;
    return 0;
}

enum outcome mcp_request_start(struct mcp_request *request, json_t **ret, struct error *err)
{
    const struct method *method;

    if (mcp_choose_version(request, err) < 0)
        return OUTCOME_FAILED;
    method = method_find(request);
    if (!method)
        return error_set(err, ERROR_METHOD_NOT_FOUND, "%.*s", METHOD_SHOWN_BYTES, request->method);
    progress_init(&request->progress, envelope_progress_token(request->params));
    return method->start(request, ret, err);
}

void mcp_request_answer(struct mcp_request *request, unsigned number, json_t *result,
                        const struct error *err)
{
    if (request->job)
        job_take_answer(request->job, number, result, err);
    else if (request->task)
        task_take_answer(request->task, number, result, err);
}

void mcp_request_cancel(struct mcp_request *request)
{
    request->cancel(request);
}

void mcp_request_deinit(struct mcp_request *request)
{
    subscriptions_forget(request);
    job_free(request->job);
    request->job = NULL;
    json_decref(request->error_data);
    request->error_data = NULL;
}
