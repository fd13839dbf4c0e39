#include "server/tools/run_python.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "environments/executor.h"
#include "server/tools/caller.h"
#include "server/tools/code/code_cleaning.h"
#include "server/tools/file_links.h"
#include "server/tools/hints/earlier_names.h"
#include "server/tools/hints/hints.h"
#include "server/tools/python_arguments.h"
#include "server/tools/python_call.h"
#include "server/tools/python_caller.h"
#include "server/tools/python_host.h"
#include "server/tools/python_offer.h"
#include "server/tools/run_account.h"
#include "server/tools/run_output.h"
#include "server/tools/run_pictures.h"
#include "server/tools/run_python_definition.h"
#include "server/tools/run_result.h"
#include "server/tools/run_result_text.h"
#include "server/tools/tool.h"

#include <string.h>

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

/* A text that names the working directory and whose it is. Owned by the caller. */
static char *run_python_directory(const struct invocation *invocation, const json_t *structured)
{
    const char *handle = json_object_get_string(structured, "working_directory");

    return memory_format("%s %s", invocation->caller->principal->name, text_or_none(handle));
}

/* The lines of text that help a model on. FACTS has the code. New reference. */
static json_t *run_python_find_hints(const struct invocation *invocation, struct hint_facts *facts,
                                     const struct run_setting *setting)
{
    const struct python_host *host = invocation->data;
    const struct python_offer offer =
        python_offer_for(&host->settings, invocation->caller->principal);
    const char *script = json_object_get_string(facts->structured, "script");
    AUTO_FREE const struct environment **offered = python_offer_list(&offer);
    const char *slash = script ? strrchr(script, '/') : NULL;
    AUTO_FREE char *path = slash ? strndup(script, (size_t)(slash - script)) : NULL;
    AUTO_FREE char *directory = run_python_directory(invocation, facts->structured);

    facts->arguments = invocation->arguments;
    facts->directory = path;
    facts->timeout = setting->timeout;
    facts->earlier = earlier_names_of(host->earlier, directory);
    facts->environment = setting->environment;
    facts->offered = offered;
    facts->rules = offer.rules;
    return hints_find(facts);
}

/* New reference. What the code defines is known to later calls. */
static json_t *run_python_hints(const struct invocation *invocation, const json_t *structured,
                                const struct run_setting *setting)
{
    const struct python_host *host = invocation->data;
    const json_t *sent = json_object_get(invocation->arguments, "code");
    AUTO_FREE char *directory = run_python_directory(invocation, structured);
    struct code_cleaning cleaned;
    struct hint_facts facts = {.structured = structured};
    json_t *hints;

    code_cleaning_do(&cleaned, json_string_value(sent), json_string_length(sent));
    facts.code = cleaned.code ? cleaned.code : json_string_value(sent);
    facts.code_length = cleaned.length;
    facts.had_fence = cleaned.had_fence;
    facts.had_magic = cleaned.had_magic;
    hints = run_python_find_hints(invocation, &facts, setting);
    if (json_is_true(json_object_get(structured, "success")))
        earlier_names_note(host->earlier, directory, facts.code, facts.code_length);
    code_cleaning_deinit(&cleaned);
    return hints;
}

/* The working directory as the script saw it. Owned by the caller. */
static char *run_python_seen_directory(const struct run_report *report,
                                       const struct run_setting *setting)
{
    const char *workspace = setting->environment->ops->kind->workspace;

    return memory_copy_string(workspace ? workspace : working_directory_path(report->directory));
}

/* The handle of the working directory, where the caller has to know it to come back to the files;
 * else NULL. Borrowed from REPORT. */
static const char *run_python_handle(struct invocation *invocation, const struct run_report *report,
                                     const struct run_setting *setting, const json_t *brief)
{
    const struct python_host *host = invocation->data;

    if (workplace_path(host->settings.workplace) ||
        json_object_get(invocation->arguments, "working_directory") ||
        json_array_size(json_object_get(brief, "files")) == 0 ||
        !python_caller_needs_handle(invocation->caller,
                                    environment_isolation(setting->environment)))
        return NULL;
    return report->working_directory;
}

/* Fills in the result: text for a model, and what programs get of STRUCTURED. */
static void run_python_answer(struct invocation *invocation, const struct run_report *report,
                              const struct run_setting *setting, json_t *structured)
{
    struct invocation_result *result = &invocation->result;
    AUTO_FREE char *directory = run_python_seen_directory(report, setting);
    AUTO_JSON json_t *brief = NULL;
    AUTO_JSON json_t *hints = NULL;
    AUTO_JSON json_t *text = NULL;
    struct run_output output;

    run_output_init(&output, structured, directory);
    run_output_keep(&output, report, structured);
    file_links_name(structured);
    brief = run_output_brief(&output, structured);
    hints = run_python_hints(invocation, brief, setting);
    text = run_pictures_add_text(
        run_result_text(brief, &output, hints,
                        run_python_handle(invocation, report, setting, brief)),
        report->pictures);
    invocation_add_text(invocation, json_string_value(text), json_string_length(text));
    run_pictures_show(invocation, report->pictures);
    result->is_error = !json_is_true(json_object_get(structured, "success"));
    result->brief = json_incref(brief);
    if (tool_is_structured(tool_of(invocation->entry), invocation->form)) {
        result->structured = json_incref(structured);
        file_links_add(invocation, structured);
    }
    run_output_deinit(&output);
}

static void run_python_on_done(struct invocation *invocation, const struct run_report *report,
                               const struct run_setting *setting)
{
    AUTO_JSON json_t *structured = run_result_structured(report, setting);

    run_python_answer(invocation, report, setting, structured);
    run_python_log_end(invocation, structured);
    run_account_end(invocation, structured);
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
