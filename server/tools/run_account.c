#include "server/tools/run_account.h"

#include "base/digest.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "server/tools/account.h"
#include "server/tools/invocation.h"

#include <stdlib.h>

static void note_code(struct invocation *call)
{
    const json_t *code = json_object_get(call->arguments, "code");
    struct digest digest;
    char text[DIGEST_TEXT_BYTES];

    digest_init(&digest);
    digest_add(&digest, json_string_value(code), json_string_length(code));
    digest_finish(&digest, text);
    account_note(call, "code_sha256", json_string(text));
    account_note(call, "code_bytes", json_integer((json_int_t)json_string_length(code)));
}

void run_account_begin(struct invocation *call, const struct run_setting *setting)
{
    const struct environment_settings *settings = &setting->environment->settings;

    if (!log_wants(LOG_LEVEL_INFO))
        return;
    account_note(call, "environment", json_string(setting->environment->name));
    note_code(call);
    account_note(call, "timeout", json_real(setting->timeout));
    account_note(call, "memory", json_integer((json_int_t)settings->limits.memory));
    account_note(call, "processes", json_integer(settings->limits.processes));
    account_note(call, "disk", json_integer((json_int_t)settings->disk));
}

void run_account_end(struct invocation *call, const json_t *structured)
{
    static const char *const keys[] = {"returncode",    "signal",       "timed_out",
                                       "out_of_memory", "stdout_bytes", "stderr_bytes"};

    for (size_t i = 0; log_wants(LOG_LEVEL_INFO) && i < ARRAY_SIZE(keys); i++) {
        json_t *value = json_object_get(structured, keys[i]);

        if (!json_is_null(value) && !json_is_false(value))
            account_note(call, keys[i], json_incref(value));
    }
}

void trace_variables_init(struct trace_variables *variables, const struct invocation *call)
{
    *variables = (struct trace_variables){0};
    if (!call->trace)
        return;
    variables->parent = memory_format("TRACEPARENT=%s", call->trace);
    variables->list[0] = variables->parent;
    if (!call->trace_state)
        return;
    variables->state = memory_format("TRACESTATE=%s", call->trace_state);
    variables->list[1] = variables->state;
}

void trace_variables_deinit(struct trace_variables *variables)
{
    free(variables->parent);
    free(variables->state);
}
