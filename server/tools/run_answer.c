#include "server/tools/run_answer.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "environments/executor.h"
#include "server/tools/caller.h"
#include "server/tools/code/code_cleaning.h"
#include "server/tools/file_links.h"
#include "server/tools/hints/earlier_names.h"
#include "server/tools/hints/hints.h"
#include "server/tools/invocation.h"
#include "server/tools/python_caller.h"
#include "server/tools/python_host.h"
#include "server/tools/python_offer.h"
#include "server/tools/run_output.h"
#include "server/tools/run_pictures.h"
#include "server/tools/run_result.h"
#include "server/tools/run_result_text.h"

#include <stdlib.h>
#include <string.h>

/* A text that names the working directory and whose it is. Owned by the caller. */
static char *run_answer_directory(const struct invocation *invocation, const json_t *structured)
{
    const char *handle = json_object_get_string(structured, "working_directory");

    return memory_format("%s %s", invocation->caller->principal->name, text_or_none(handle));
}

/* The lines of text that help a model on. FACTS has the code. New reference. */
static json_t *run_answer_find_hints(const struct invocation *invocation, struct hint_facts *facts,
                                     const struct run_setting *setting)
{
    const struct python_host *host = invocation->data;
    const struct python_offer offer =
        python_offer_for(&host->settings, invocation->caller->principal);
    const char *script = json_object_get_string(facts->structured, "script");
    AUTO_FREE const struct environment **offered = python_offer_list(&offer);
    const char *slash = script ? strrchr(script, '/') : NULL;
    AUTO_FREE char *path = slash ? strndup(script, (size_t)(slash - script)) : NULL;
    AUTO_FREE char *directory = run_answer_directory(invocation, facts->structured);

    facts->arguments = invocation->arguments;
    facts->directory = path;
    facts->timeout = setting->timeout;
    facts->earlier = earlier_names_of(host->earlier, directory);
    facts->environment = setting->environment;
    facts->offered = offered;
    facts->rules = offer.rules;
    return hints_find(facts);
}

/* New reference. Later calls know the names that the code defines. */
static json_t *run_answer_hints(const struct invocation *invocation, const json_t *structured,
                                const struct run_setting *setting, const struct run_source *source)
{
    const struct python_host *host = invocation->data;
    AUTO_FREE char *directory = run_answer_directory(invocation, structured);
    struct hint_facts facts = {.structured = structured, .code = source->code};
    json_t *hints = run_answer_find_hints(invocation, &facts, setting);

    if (json_is_true(json_object_get(structured, "success")))
        earlier_names_note(host->earlier, directory, facts.code->text, facts.code->length);
    return hints;
}

/* Facts about the session for the model. Other hints are about programs that begin with nothing.
 * New reference. */
static json_t *run_answer_session_lines(const struct invocation *invocation,
                                        const json_t *structured)
{
    const json_t *session = json_object_get(structured, "session");
    const char *asked = json_object_get_string(invocation->arguments, "session");
    const char *name = json_object_get_string(session, "name");
    json_t *lines = json_array();

    if (!json_is_true(json_object_get(session, "alive")))
        json_array_append_new(lines, json_string("The session has ended; its variables are gone."));
    else if (!asked || strcmp(asked, name) != 0)
        json_array_append_new(
            lines,
            json_string_format("To go on with these variables, pass session: \"%s\".", name));
    return lines;
}

/* The working directory as the script saw it. Owned by the caller. */
static char *run_answer_seen_directory(const struct run_report *report,
                                       const struct run_setting *setting)
{
    const char *workspace = setting->environment->ops->kind->workspace;

    return memory_copy_string(workspace ? workspace : working_directory_path(report->directory));
}

/* The handle of the working directory, where the caller has to know it to come back to the files;
 * else NULL. Borrowed from REPORT. */
static const char *run_answer_handle(struct invocation *invocation, const struct run_report *report,
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

void run_answer_init(struct run_answer *answer, struct invocation *invocation,
                     const struct run_report *report, const struct run_setting *setting,
                     const struct run_source *source)
{
    AUTO_FREE char *directory = run_answer_seen_directory(report, setting);
    AUTO_JSON json_t *hints = NULL;
    struct run_output output;

    answer->structured = run_result_structured(report, setting);
    answer->pictures = json_incref((json_t *)report->pictures);
    run_output_init(&output, answer->structured, directory, source->room);
    run_output_keep(&output, report, answer->structured);
    file_links_name(answer->structured);
    answer->brief = run_output_brief(&output, answer->structured);
    hints = setting->session ? run_answer_session_lines(invocation, answer->structured)
                             : run_answer_hints(invocation, answer->brief, setting, source);
    answer->text = run_pictures_add_text(
        run_result_text(answer->brief, &output, hints,
                        run_answer_handle(invocation, report, setting, answer->brief)),
        answer->pictures);
    run_output_deinit(&output);
}

void run_answer_deinit(struct run_answer *answer)
{
    json_decref(answer->structured);
    json_decref(answer->brief);
    json_decref(answer->text);
    json_decref(answer->pictures);
}
