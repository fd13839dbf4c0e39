#include "server/mcp/progress.h"

#include "base/json.h"

#include <math.h>
#include <string.h>

#define LARGEST_EXACT_INTEGER 9007199254740991.0 /* 2^53 - 1: what every JSON reader keeps */

static json_t *number(double value)
{
    if (trunc(value) == value && fabs(value) <= LARGEST_EXACT_INTEGER)
        return json_integer((json_int_t)value);
    return json_real(value);
}

static json_t *progress_params(const struct mcp_request *request, double total, const char *message)
{
    json_t *params = json_pack("{s:O, s:o}", "progressToken", request->progress_token, "progress",
                               number(request->progress));

    if (isfinite(total) && total >= 0)
        json_object_set_new(params, "total", number(total));
    if (message && request->version >= MCP_2025_03_26)
        json_object_set_new(params, "message", json_string_repaired(message, strlen(message)));
    return params;
}

void progress_tell(struct mcp_request *request, double progress, double total, const char *message)
{
    if (!request->progress_token || request->peer->slow)
        return;
    if (!isfinite(progress) || progress <= request->progress)
        return;
    request->progress = progress;
    request->notify(request, "notifications/progress", progress_params(request, total, message));
}
