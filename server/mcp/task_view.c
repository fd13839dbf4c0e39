#include "server/mcp/task_view.h"

#include "base/json.h"
#include "base/protocol/error_object.h"
#include "base/utf8.h"

#include <math.h>
#include <string.h>

enum {
    POLL_INTERVAL_MS = 1000,
    MESSAGE_BYTES = 1024, /* longest that is shown */
    NANOSECONDS_PER_MS = 1000000,
};

/* "2026-11-21T10:47:36.123Z" */
static json_t *time_text(const struct timespec *time)
{
    char text[sizeof "2026-11-21T10:47:36"];
    struct tm parts;

    gmtime_r(&time->tv_sec, &parts);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    return json_string_format("%s.%03ldZ", text, time->tv_nsec / NANOSECONDS_PER_MS);
}

static json_t *message_text(const struct task *task)
{
    const char *text = task->message;
    size_t length = text ? strlen(text) : 0;

    if (!text)
        return NULL;
    return json_string_repaired(
        text, length > MESSAGE_BYTES ? utf8_boundary_before(text, MESSAGE_BYTES) : length);
}

json_t *task_view(const struct task *task)
{
    bool is_modern = mcp_version_is_modern(task->version);

    return json_pack("{s:s, s:s, s:o*, s:o, s:o, s:I, s:i}", "taskId", task->id, //
                     "status", task_status_name(task->status),                   //
                     "statusMessage", message_text(task),                        //
                     "createdAt", time_text(&task->created),                     //
                     "lastUpdatedAt", time_text(&task->updated),                 //
                     is_modern ? "ttlMs" : "ttl", (json_int_t)round(task->ttl * 1e3),
                     is_modern ? "pollIntervalMs" : "pollInterval", POLL_INTERVAL_MS);
}

json_t *task_view_detailed(const struct task *task)
{
    json_t *view = task_view(task);

    if (!mcp_version_is_modern(task->version))
        return view;
    if (task->status == TASK_INPUT_REQUIRED)
        json_object_set_new(view, "inputRequests", task_requests(task));
    if (task->result)
        json_object_set(view, "result", task->result);
    if (task->failure)
        json_object_set_new(view, "error", error_object(task->failure, task->failure_data));
    return view;
}

json_t *task_view_related(const struct task *task)
{
    return json_pack("{s:{s:s}}", TASK_VIEW_RELATED, "taskId", task->id);
}
