#include "server/mcp/logging.h"

#include <string.h>

static const char *const NAMES[] = {
    [TOOL_LOG_EMERGENCY] = "emergency", [TOOL_LOG_ALERT] = "alert",
    [TOOL_LOG_CRITICAL] = "critical",   [TOOL_LOG_ERROR] = "error",
    [TOOL_LOG_WARNING] = "warning",     [TOOL_LOG_NOTICE] = "notice",
    [TOOL_LOG_INFO] = "info",           [TOOL_LOG_DEBUG] = "debug",
};

int logging_level_find(const json_t *value)
{
    const char *name = json_string_value(value);

    for (int level = TOOL_LOG_EMERGENCY; name && level <= TOOL_LOG_DEBUG; level++) {
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

void logging_send(struct mcp_request *request, enum tool_log_level level, const char *logger,
                  json_t *data)
{
    if ((int)level > wanted_level(request) || request->peer->slow) {
        json_decref(data);
        return;
    }
    request->notify(
        request, "notifications/message",
        json_pack("{s:s, s:s, s:o}", "level", NAMES[level], "logger", logger, "data", data));
}
