#include "server/tools/invocation.h"

#include "base/clock.h"
#include "base/json.h"
#include "server/tools/account.h"

#include <assert.h>

struct registry_entry *invocation_find(struct invocation *call, const struct registry *registry,
                                       enum registry_kind kind, const char *key)
{
    struct registry_entry *entry = registry_find(registry, kind, key);

    if (entry) {
        call->entry = entry_ref(entry);
        call->name = entry->key;
        call->data = entry->data;
    }
    return entry;
}

enum outcome invocation_start(struct invocation *call, struct error *err)
{
    enum outcome outcome;

    call->started = clock_seconds();
    outcome = call->entry->start(call, err);
    if (outcome != OUTCOME_PENDING)
        account_end(call, outcome == OUTCOME_FAILED ? err : NULL);
    return outcome;
}

void invocation_cancel(struct invocation *call)
{
    assert(call->entry->cancel);
    call->entry->cancel(call);
    account_cancel(call);
}

void invocation_reset(struct invocation *call)
{
    json_decref(call->result.content);
    json_decref(call->result.structured);
    json_decref(call->result.requests);
    json_decref(call->result.state);
    call->result = (struct invocation_result){0};
    json_decref(call->notes);
    call->notes = NULL;
}

void invocation_deinit(struct invocation *call)
{
    invocation_reset(call);
    json_decref(call->normalised);
    entry_unref(call->entry);
    *call = (struct invocation){0};
}

void invocation_finish(struct invocation *call)
{
    account_end(call, NULL);
    call->done(call, NULL);
}

void invocation_fail(struct invocation *call, const struct error *err)
{
    account_end(call, err);
    call->done(call, err);
}

void invocation_add_text(struct invocation *call, const char *text, size_t length)
{
    if (!call->result.content)
        call->result.content = json_array();
    json_array_append_new(call->result.content, json_pack("{s:s, s:o}", "type", "text", "text",
                                                          json_string_repaired(text, length)));
}

void invocation_log(struct invocation *call, enum log_severity level, const char *logger,
                    json_t *data)
{
    if (call->log)
        call->log(call, level, logger ? logger : call->name, data);
    else
        json_decref(data);
}

void invocation_release(struct invocation *call)
{
    if (call->release)
        call->release(call);
}

void invocation_ask(struct invocation *call, const char *key, const char *method, json_t *params)
{
    if (!call->result.requests)
        call->result.requests = json_object();
    json_object_set_new(call->result.requests, key,
                        json_pack("{s:s, s:o}", "method", method, "params", params));
}

void invocation_ask_form(struct invocation *call, const char *key, const char *message,
                         json_t *schema)
{
    invocation_ask(call, key, "elicitation/create",
                   json_pack("{s:s, s:s, s:o}", "mode", "form", "message", message,
                             "requestedSchema", schema));
}

void invocation_ask_page(struct invocation *call, const char *key, const char *message,
                         const char *url, const char *id)
{
    invocation_ask(call, key, "elicitation/create",
                   json_pack("{s:s, s:s, s:s, s:s}", "mode", "url", "message", message, "url", url,
                             "elicitationId", id));
}

void invocation_finish_page(struct invocation *call, const char *id)
{
    if (call->page_done)
        call->page_done(call, id);
}

const json_t *invocation_answer(const struct invocation *call, const char *key)
{
    const json_t *answer = json_object_get(call->answers, key);

    return json_is_object(answer) ? answer : NULL;
}

void invocation_keep(struct invocation *call, json_t *state)
{
    json_decref(call->result.state);
    call->result.state = state;
}
