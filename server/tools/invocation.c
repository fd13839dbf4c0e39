#include "server/tools/invocation.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/state.h"
#include "server/tools/account.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* An invocation that asked is started again. */
static const struct state invocation_phases[] = {
    [INVOCATION_NEW] = {"new", 1 << INVOCATION_FOUND},
    [INVOCATION_FOUND] = {"found", 1 << INVOCATION_STARTED},
    [INVOCATION_STARTED] = {"started", 1 << INVOCATION_ENDED},
    [INVOCATION_ENDED] = {"ended", 1 << INVOCATION_FOUND},
};

static void invocation_set_phase(struct invocation *invocation, enum invocation_phase phase)
{
    state_change(invocation_phases, invocation->phase, phase, "invocation of %s", invocation->name);
    invocation->phase = phase;
}

/* The one way out. ERR is NULL, or the work could not be done. */
static void invocation_end(struct invocation *invocation, const struct error *err)
{
    invocation_set_phase(invocation, INVOCATION_ENDED);
    account_end(invocation, err);
}

struct registry_entry *invocation_find(struct invocation *invocation,
                                       const struct registry *registry, enum registry_kind kind,
                                       const char *key)
{
    struct registry_entry *entry = registry_find(registry, kind, key);

    if (!entry)
        return NULL;
    invocation->entry = entry_ref(entry);
    invocation->name = entry->key;
    invocation->data = entry->data;
    invocation_set_phase(invocation, INVOCATION_FOUND);
    return entry;
}

enum outcome invocation_start(struct invocation *invocation, struct error *err)
{
    enum outcome outcome;

    invocation->started = clock_seconds();
    invocation_set_phase(invocation, INVOCATION_STARTED);
    outcome = invocation->entry->start(invocation, err);
    assert(invocation->phase == INVOCATION_STARTED);
    if (outcome != OUTCOME_PENDING)
        invocation_end(invocation, outcome == OUTCOME_FAILED ? err : NULL);
    return outcome;
}

void invocation_cancel(struct invocation *invocation)
{
    assert(invocation->entry->cancel);
    invocation_set_phase(invocation, INVOCATION_ENDED);
    invocation->entry->cancel(invocation);
    account_cancel(invocation);
}

void invocation_reset(struct invocation *invocation)
{
    json_decref(invocation->result.content);
    json_decref(invocation->result.structured);
    json_decref(invocation->result.requests);
    json_decref(invocation->result.state);
    invocation->result = (struct invocation_result){0};
    json_decref(invocation->notes);
    invocation->notes = NULL;
    if (invocation->phase == INVOCATION_ENDED)
        invocation_set_phase(invocation, INVOCATION_FOUND);
}

void invocation_deinit(struct invocation *invocation)
{
    assert(invocation->phase != INVOCATION_STARTED);
    invocation_reset(invocation);
    json_decref(invocation->normalised);
    entry_unref(invocation->entry);
    *invocation = (struct invocation){0};
}

void invocation_finish(struct invocation *invocation)
{
    invocation_end(invocation, NULL);
    invocation->done(invocation, NULL);
}

void invocation_fail(struct invocation *invocation, const struct error *err)
{
    invocation_end(invocation, err);
    invocation->done(invocation, err);
}

double invocation_next_progress(struct invocation *invocation)
{
    double milliseconds = round((clock_seconds() - invocation->started) * 1e3);

    invocation->progressed = fmax(milliseconds, invocation->progressed + 1);
    return invocation->progressed / 1e3;
}

void invocation_add_text(struct invocation *invocation, const char *text, size_t length)
{
    if (!invocation->result.content)
        invocation->result.content = json_array();
    json_array_append_new(
        invocation->result.content,
        json_pack("{s:s, s:o}", "type", "text", "text", json_string_repaired(text, length)));
}

void invocation_log(struct invocation *invocation, enum log_severity level, const char *logger,
                    json_t *data)
{
    if (invocation->log)
        invocation->log(invocation, level, logger ? logger : invocation->name, data);
    else
        json_decref(data);
}

void invocation_release(struct invocation *invocation)
{
    if (invocation->release)
        invocation->release(invocation);
}

void invocation_ask(struct invocation *invocation, const char *key, const char *method,
                    json_t *params)
{
    if (!invocation->result.requests)
        invocation->result.requests = json_object();
    json_object_set_new(invocation->result.requests, key,
                        json_pack("{s:s, s:o}", "method", method, "params", params));
}

/* New reference. */
static json_t *invocation_form(const char *message, json_t *schema /* taken */)
{
    return json_pack("{s:s, s:s, s:o}", "mode", "form", "message", message, "requestedSchema",
                     schema);
}

void invocation_ask_form(struct invocation *invocation, const char *key, const char *message,
                         json_t *schema)
{
    invocation_ask(invocation, key, "elicitation/create", invocation_form(message, schema));
}

const char *invocation_ask_aside(struct invocation *invocation, struct invocation_aside *aside,
                                 const char *message, json_t *schema)
{
    json_t *question = json_pack("{s:s, s:o}", "method", "elicitation/create", "params",
                                 invocation_form(message, schema));

    if (invocation->ask_aside)
        return invocation->ask_aside(invocation, aside, question);
    json_decref(question);
    return "a person has to approve it, and nobody can be asked here";
}

void invocation_withdraw_aside(struct invocation *invocation, struct invocation_aside *aside)
{
    if (invocation->withdraw_aside)
        invocation->withdraw_aside(invocation, aside);
}

void invocation_ask_page(struct invocation *invocation, const char *key, const char *message,
                         const char *url, const char *id)
{
    invocation_ask(invocation, key, "elicitation/create",
                   json_pack("{s:s, s:s, s:s, s:s}", "mode", "url", "message", message, "url", url,
                             "elicitationId", id));
}

void invocation_finish_page(struct invocation *invocation, const char *id)
{
    if (invocation->page_done)
        invocation->page_done(invocation, id);
}

const json_t *invocation_answer(const struct invocation *invocation, const char *key)
{
    const json_t *answer = json_object_get(invocation->answers, key);

    return json_is_object(answer) ? answer : NULL;
}

void invocation_keep(struct invocation *invocation, json_t *state)
{
    json_decref(invocation->result.state);
    invocation->result.state = state;
}

enum result_form result_form_find(const char *name)
{
    if (strcmp(name, "text") == 0)
        return RESULT_FORM_TEXT;
    return strcmp(name, "structured") == 0 ? RESULT_FORM_STRUCTURED : RESULT_FORM_UNSAID;
}
