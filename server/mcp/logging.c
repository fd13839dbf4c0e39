#include "server/mcp/logging.h"

#include "server/mcp/peer.h"
#include "server/mcp/request.h"

#include <string.h>

static const char *const NAMES[] = {
    [SEVERITY_EMERGENCY] = "emergency", [SEVERITY_ALERT] = "alert",
    [SEVERITY_CRITICAL] = "critical",   [SEVERITY_ERROR] = "error",
    [SEVERITY_WARNING] = "warning",     [SEVERITY_NOTICE] = "notice",
    [SEVERITY_INFO] = "info",           [SEVERITY_DEBUG] = "debug",
};

int logging_level_find(const json_t *value)
{
    const char *name = json_string_value(value);

    for (int level = SEVERITY_EMERGENCY; name && level <= SEVERITY_DEBUG; level++) {
        if (strcmp(NAMES[level], name) == 0)
            return level;
    }
    return -1;
}

enum outcome logging_set_level(struct mcp_request *request, json_t **ret, struct error *err)
{
    int level = logging_level_find(json_object_get(request->params, "level"));

    if (level < 0)
        return error_set(err, ERROR_INVALID_PARAMS, "level must be one of " LOGGING_LEVELS);
    request->peer->log_level = level;
    *ret = json_object();
    return OUTCOME_READY;
}

static int wanted_level(const struct mcp_request *request)
{
    return mcp_version_is_modern(request->version) ? request->log_level : request->peer->log_level;
}

json_t *logging_params(enum log_severity level, const char *logger, json_t *data)
{
    return json_pack("{s:s, s:s, s:o}", "level", NAMES[level], "logger", logger, "data", data);
}

void logging_send(struct mcp_request *request, enum log_severity level, const char *logger,
                  json_t *data)
{
    if ((int)level > wanted_level(request) || request->peer->slow) {
        json_decref(data);
        return;
    }
    request->notify(request, "notifications/message", logging_params(level, logger, data));
}
