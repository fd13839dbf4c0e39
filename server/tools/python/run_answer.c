#include "server/tools/python/run_answer.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "server/tools/answer/run_output.h"
#include "server/tools/answer/run_pictures.h"
#include "server/tools/answer/run_result.h"
#include "server/tools/answer/run_result_text.h"
#include "server/tools/caller.h"
#include "server/tools/code/code_cleaning.h"
#include "server/tools/hints/earlier_names.h"
#include "server/tools/hints/hints.h"
#include "server/tools/hints/run_facts.h"
#include "server/tools/invocation.h"
#include "server/tools/python/file_uri.h"
#include "server/tools/python/python_caller.h"
#include "server/tools/python/python_host.h"
#include "server/tools/python/python_offer.h"
#include "server/tools/python/python_request.h"

#include <stdlib.h>
#include <string.h>

/* A text that names the working directory and whose it is. Owned by the caller. */
static char *run_answer_directory(const struct invocation *invocation,
                                  const struct run_report *report)
{
    return memory_format("%s %s", invocation->caller->principal->name,
                         text_or_none(report->working_directory));
}

/* The lines of text that help a model on. FACTS has the run and its output. New reference. */
static json_t *run_answer_find_hints(const struct invocation *invocation, struct hint_facts *facts)
{
    static const struct environment *const none[] = {NULL};
    const struct python_host *host = invocation->data;
    const struct python_offer offer =
        python_offer_for(&host->settings, invocation->caller->principal);
    const char *script = facts->run->report->script;
    AUTO_FREE const struct environment **offered = python_offer_list(&offer);
    const char *slash = script ? strrchr(script, '/') : NULL;
    AUTO_FREE char *path = slash ? strndup(script, (size_t)(slash - script)) : NULL;
    AUTO_FREE char *directory = run_answer_directory(invocation, facts->run->report);

    facts->arguments = invocation->arguments;
    facts->directory = path;
    if (!path && facts->run->report->directory) /* a cell has no script */
        facts->directory = working_directory_path(facts->run->report->directory);
    facts->is_project = workplace_path(host->settings.workplace) != NULL;
    facts->earlier = earlier_names_of(host->earlier, directory);
    facts->environment = facts->run->setting->environment;
    facts->has_code_alone = invocation->client.sends_code_alone;
    facts->offered = facts->has_code_alone ? none : offered;
    facts->rules = offer.rules;
    return hints_find(facts);
}

/* New reference. Later calls know the names that CODE defines. */
static json_t *run_answer_hints(const struct invocation *invocation, const struct run_facts *facts,
                                const struct run_output *output, const struct code_cleaning *code)
{
    const struct run_output_stream *streams = output->streams;
    const struct python_host *host = invocation->data;
    AUTO_FREE char *directory = run_answer_directory(invocation, facts->report);
    struct hint_facts told = {
        .run = facts,
        .output = streams[PROCESS_STDOUT].text,
        .errors = streams[PROCESS_STDERR].text,
        .is_silent = streams[PROCESS_STDOUT].length + streams[PROCESS_STDERR].length == 0,
        .code = code,
    };
    json_t *hints = run_answer_find_hints(invocation, &told);

    if (facts->is_success && !facts->setting->session)
        earlier_names_note(host->earlier, directory, code->text, code->length);
    return hints;
}

/* INSTALLED: "gadget 1.0"; or NULL. In a session that IS_NEW nothing has been imported before. */
static void run_answer_add_packages(json_t *lines, const char *installed, bool is_new)
{
    if (installed)
        json_array_append_new(
            lines, json_string_format("Installed for this session: %s.%s", installed,
                                      is_new ? ""
                                             : " What was imported before stays as it is until "
                                               "manage_sessions restarts it."));
}

/* Adds facts about the session, if there is one, for the model. */
static void run_answer_add_session(json_t *lines, const struct invocation *invocation,
                                   const struct run_facts *facts)
{
    const char *asked = json_object_get_string(invocation->arguments, "session");
    const char *name = facts->setting->session;

    if (!name)
        return;
    run_answer_add_packages(lines, facts->report->installed,
                            asked && strcmp(asked, PYTHON_NEW_SESSION) == 0);
    if (facts->report->session != RUN_SESSION_KEPT)
        json_array_append_new(lines, json_string("The session has ended; its variables are gone."));
    else if (!invocation->client.sends_code_alone && (!asked || strcmp(asked, name) != 0))
        json_array_append_new(
            lines,
            json_string_format("To go on with these variables, pass session: \"%s\".", name));
}

/* The working directory as the script saw it. Owned by the caller. */
static char *run_answer_seen_directory(const struct run_facts *facts)
{
    const char *workspace = facts->setting->environment->ops->kind->workspace;

    return memory_copy_string(workspace ? workspace
                                        : working_directory_path(facts->report->directory));
}

/* The handle of the working directory, where the caller has to know it to come back to the files;
 * else NULL. Borrowed from the report. */
static const char *run_answer_handle(struct invocation *invocation, const struct run_facts *facts)
{
    const struct python_host *host = invocation->data;

    if (workplace_path(host->settings.workplace) ||
        json_object_get(invocation->arguments, "working_directory") ||
        json_array_size(facts->files) == 0 || invocation->client.sends_code_alone ||
        !python_caller_needs_handle(invocation->caller,
                                    environment_isolation(facts->setting->environment)))
        return NULL;
    return facts->report->working_directory;
}

/* The path of the working directory, for a client that can open it, and does not have it as its
 * project; else NULL. Borrowed from the report. */
static const char *run_answer_path(const struct invocation *invocation,
                                   const struct run_facts *facts)
{
    const struct python_host *host = invocation->data;

    if (!invocation->caller->is_local || workplace_path(host->settings.workplace) ||
        !facts->report->directory)
        return NULL;
    return working_directory_path(facts->report->directory);
}

void run_answer_init(struct run_answer *answer, struct invocation *invocation,
                     struct run_facts *facts, const struct run_source *source)
{
    AUTO_FREE char *directory = run_answer_seen_directory(facts);
    AUTO_JSON json_t *hints = NULL;
    struct run_output output;

    answer->pictures = json_incref((json_t *)facts->report->pictures);
    run_output_init(&output, facts, directory, source->room);
    run_output_keep(&output, facts);
    file_links_name(facts->files, facts->report->working_directory);
    hints = run_answer_hints(invocation, facts, &output, source->code);
    run_answer_add_session(hints, invocation, facts);
    answer->text = run_pictures_add_text(run_result_text(facts, &output, hints,
                                                         run_answer_handle(invocation, facts),
                                                         run_answer_path(invocation, facts)),
                                         answer->pictures);
    answer->structured = run_result_structured(facts);
    run_output_deinit(&output);
}

void run_answer_deinit(struct run_answer *answer)
{
    json_decref(answer->structured);
    json_decref(answer->text);
    json_decref(answer->pictures);
}
