#include "server/tools/python/run_python.h"

#include "base/buffer.h"
#include "base/json.h"
#include "base/memory.h"
#include "server/tools/answer/run_output.h"
#include "server/tools/answer/run_pictures.h"
#include "server/tools/hints/run_facts.h"
#include "server/tools/python/file_uri.h"
#include "server/tools/python/guide.h"
#include "server/tools/python/python_arguments.h"
#include "server/tools/python/python_call.h"
#include "server/tools/python/python_host.h"
#include "server/tools/python/python_offer.h"
#include "server/tools/python/python_schema.h"
#include "server/tools/python/run_account.h"
#include "server/tools/python/run_answer.h"
#include "server/tools/tool.h"

/* As a model sees it */

/* With the environments and limits of OFFER. OpenAI accepts at most 1024 characters. Owned by the
 * caller. */
static char *run_python_description(const struct python_offer *offer)
{
    struct buffer text;
    char *ret;

    buffer_init(&text, GUIDE_BYTES);
    buffer_print(&text, "%s\n", GUIDE_PURPOSE);
    guide_append_rules(&text, offer);
    guide_append_limits(&text, offer);
    ret = memory_format("%.*s", (int)buffer_length(&text) - 1, buffer_bytes(&text));
    buffer_deinit(&text);
    return ret;
}

/* schemas/run_python.input.json with environments and limits filled in. New reference. */
static json_t *run_python_input_schema(const struct python_offer *offer)
{
    json_t *schema = python_schema_built_in("run_python.input");

    python_arguments_describe(schema, offer);
    return schema;
}

json_t *run_python_output_schema(void)
{
    return python_schema_built_in("run_python.output");
}

json_t *run_python_annotations(void)
{
    return json_pack("{s:s, s:b, s:b, s:b, s:b}", "title", RUN_PYTHON_TITLE, "readOnlyHint", 0,
                     "destructiveHint", 1, "idempotentHint", 0, "openWorldHint", 1);
}

/* Its calls */

#define TASK_AFTER_SECONDS 2.0 /* a longer call becomes a task if the server decides */

/* For clients that show log messages; never contains code or output. */
static void run_python_log_end(struct invocation *invocation, const json_t *structured)
{
    invocation_log(invocation, SEVERITY_DEBUG, NULL,
                   json_pack("{s:s, s:O, s:O, s:O}", "event", "run ended", //
                             "environment", json_object_get(structured, "environment"),
                             "returncode", json_object_get(structured, "returncode"), //
                             "duration", json_object_get(structured, "duration")));
}

static void run_python_on_done(struct invocation *invocation, void *data, struct run_facts *facts)
{
    struct invocation_result *result = &invocation->result;
    struct run_answer answer;

    (void)data;
    run_answer_init(&answer, invocation, facts,
                    &(struct run_source){facts->setting->code, RUN_OUTPUT_CHARACTERS});
    invocation_add_text(invocation, json_string_value(answer.text),
                        json_string_length(answer.text));
    run_pictures_show(invocation, answer.pictures);
    result->is_error = !facts->is_success;
    if (tool_is_structured(tool_of(invocation->entry), invocation->form)) {
        result->structured = json_incref(answer.structured);
        file_links_add(invocation, facts->files);
    }
    run_python_log_end(invocation, answer.structured);
    run_account_end(invocation, answer.structured);
    run_answer_deinit(&answer);
    invocation_finish(invocation);
}

static enum outcome run_python_start(struct invocation *invocation, struct error *err)
{
    const json_t *code = json_object_get(invocation->arguments, "code");
    struct python_request request = python_arguments_read(invocation->arguments);

    request.code = json_string_value(code);
    request.code_length = json_string_length(code);
    return python_call_start(invocation, invocation->data, &request, run_python_on_done, err);
}

static bool run_python_view(const struct tool *tool, const struct principal *principal,
                            struct tool_view *ret)
{
    const struct python_host *host = tool->data;
    struct python_offer offer;

    if (!python_offer_is_personal(principal))
        return false;
    if (!ret)
        return true;
    offer = python_offer_for(&host->settings, principal);
    ret->description = run_python_description(&offer);
    ret->input_schema = run_python_input_schema(&offer);
    return true;
}

int run_python_offer(struct registry *registry, struct python_host *host, struct error *err)
{
    const struct python_offer offer = python_offer_for(&host->settings, NULL);
    AUTO_FREE char *description = run_python_description(&offer);
    const struct tool tool = {
        .name = RUN_PYTHON_NAME,
        .title = RUN_PYTHON_TITLE,
        .description = description,
        .input_schema = run_python_input_schema(&offer),
        .output_schema = run_python_output_schema(),
        .annotations = run_python_annotations(),
        .form = host->settings.results,
        .task_support = TOOL_TASK_OPTIONAL,
        .task_after = TASK_AFTER_SECONDS,
        .data = host,
        .view = run_python_view,
        .start = run_python_start,
        .cancel = python_call_cancel,
    };

    return tool_offer(registry, &tool, err);
}
