#include "server/tools/account.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/metrics.h"
#include "server/tools/invocation.h"
#include "server/tools/trace.h"

#include <math.h>

/* The message of an error may contain data of the caller; its code does not. */
static const char *error_name(enum error_code code)
{
    switch (code) {
    case ERROR_UNKNOWN_TOOL:
        return "unknown_tool";
    case ERROR_INVALID_ARGUMENTS:
    case ERROR_INVALID_PARAMS:
        return "invalid_arguments";
    case ERROR_MISSING_CAPABILITY:
        return "missing_capability";
    case ERROR_BUSY:
        return "busy";
    case ERROR_LIMIT:
        return "limit";
    case ERROR_TIMEOUT:
        return "timeout";
    case ERROR_UNAVAILABLE:
        return "unavailable";
    default:
        return "internal";
    }
}

static const char *account_outcome_name(const struct invocation *invocation)
{
    if (invocation->result.requests)
        return "input_required";
    return invocation->result.is_error ? "error" : "success";
}

static void add_trace(json_t *line, const char *parent)
{
    char id[TRACE_ID_DIGITS + 1];

    if (!parent)
        return;
    trace_read_id(parent, id);
    json_object_set_new(line, "trace_id", json_string(id));
}

static void add_caller(json_t *line, const struct tool_caller *caller)
{
    json_object_set_new(line, "principal", json_string_format("%s", caller->principal->name));
    if (*caller->label)
        json_object_set_new(line, "peer", json_string(caller->label));
}

static void account_write_line(const struct invocation *invocation, const char *name,
                               const char *outcome, const struct error *err)
{
    AUTO_JSON json_t *line = json_object();

    add_caller(line, invocation->caller);
    json_object_set_new(line, "tool", json_string_format("%s", name));
    json_object_set_new(line, "outcome", json_string(outcome));
    if (err)
        json_object_set_new(line, "reason", json_string(error_name(err->code)));
    if (invocation->started > 0)
        json_object_set_new(line, "ms",
                            json_real(round((clock_seconds() - invocation->started) * 1e4) / 10));
    json_object_update(line, invocation->notes);
    add_trace(line, invocation->trace);
    log_event(LOG_LEVEL_INFO, "call", line);
}

static void account_write(const struct invocation *invocation, const char *name,
                          const char *outcome, const struct error *err)
{
    metrics_count(METRIC_TOOL_CALLS, invocation->entry ? invocation->name : "unknown", outcome);
    if (log_wants(LOG_LEVEL_INFO))
        account_write_line(invocation, name, outcome, err);
}

static bool is_tool(const struct invocation *invocation)
{
    return invocation->entry->kind == REGISTRY_TOOLS;
}

void account_end(const struct invocation *invocation, const struct error *err)
{
    if (err && err->code == ERROR_BUSY)
        metrics_count(METRIC_REFUSALS, "busy", NULL);
    if (is_tool(invocation))
        account_write(invocation, invocation->name,
                      err ? "failed" : account_outcome_name(invocation), err);
}

void account_cancel(const struct invocation *invocation)
{
    if (is_tool(invocation))
        account_write(invocation, invocation->name, "cancelled", NULL);
}

void account_refuse(const struct invocation *invocation, const char *name, const struct error *err)
{
    if (err->code == ERROR_BUSY)
        metrics_count(METRIC_REFUSALS, "rate_limit", NULL);
    account_write(invocation, name, "refused", err);
}

void account_note(struct invocation *invocation, const char *key, json_t *value)
{
    if (!invocation->notes)
        invocation->notes = json_object();
    json_object_set_new(invocation->notes, key, value);
}
