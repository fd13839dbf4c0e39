#include "server/mcp/progress.h"

#include "base/json.h"

#include <math.h>
#include <string.h>

#define LARGEST_EXACT_INTEGER 9007199254740991.0 /* 2^53 - 1: every JSON reader keeps it */

void progress_init(struct progress *progress, json_t *token)
{
    *progress = (struct progress){.token = token, .told = -INFINITY};
}

static json_t *progress_number(double value)
{
    if (trunc(value) == value && fabs(value) <= LARGEST_EXACT_INTEGER)
        return json_integer((json_int_t)value);
    return json_real(value);
}

json_t *progress_next(struct progress *progress, enum mcp_version version, double value,
                      double total, const char *message)
{
    json_t *params;

    if (!progress->token || !isfinite(value) || value <= progress->told)
        return NULL;
    progress->told = value;
    params = json_pack("{s:O, s:o}", "progressToken", progress->token, "progress",
                       progress_number(value));
    if (isfinite(total) && total >= 0)
        json_object_set_new(params, "total", progress_number(total));
    if (message && version >= MCP_2025_03_26)
        json_object_set_new(params, "message", json_string_repaired(message, strlen(message)));
    return params;
}
