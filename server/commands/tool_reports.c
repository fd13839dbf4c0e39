#include "server/commands/tool_reports.h"

#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/spelling.h"
#include "server/commands/command.h"
#include "server/service.h"
#include "server/transport/socket/peer.h"

#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#define TOOL_REPORTS_SECONDS 60.0 /* a program may have to be installed first */

void tool_reports_reach_init(struct tool_reports_reach *reach, const struct toolbox *toolbox)
{
    const json_t *name;
    size_t i;

    *reach = (struct tool_reports_reach){
        .names = toolbox_names(toolbox),
        .principal = peer_own_principal(),
    };
    reach->words = memory_new(json_array_size(reach->names) + 1, sizeof *reach->words);
    json_array_foreach (reach->names, i, name)
        reach->words[i] = json_string_value(name);
    reach->reach = (struct tool_reach){
        .principal = reach->principal,
        .environment = reach->words,
        .is_isolated = true,
    };
}

void tool_reports_reach_deinit(struct tool_reports_reach *reach)
{
    free(reach->words);
    free(reach->principal);
    json_decref(reach->names);
}

bool tool_reports_has_server(const struct service *service, const char *name, struct error *err)
{
    AUTO_JSON json_t *names = toolbox_names(service->toolbox);
    AUTO_FREE char *list = json_list(names);
    struct spelling spelling = SPELLING_INIT(name);
    const json_t *other;
    size_t i;

    json_array_foreach (names, i, other) {
        spelling_try(&spelling, json_string_value(other));
        if (strcmp(json_string_value(other), name) == 0)
            return true;
    }
    if (spelling.nearest)
        error_set(err, ERROR_USAGE, "there is no server \"%s\" in tools, did you mean \"%s\"?",
                  name, spelling.nearest);
    else
        error_set(err, ERROR_USAGE, "there is no server \"%s\" in tools, but: %s", name,
                  *list ? list : "none");
    return false;
}

static void tool_reports_on_done(struct tool_survey *survey)
{
    ev_break(survey->loop, EVBREAK_ALL);
}

int tool_reports_survey(struct service *service, const char *only, struct tool_survey *survey)
{
    struct tool_reports_reach reach;
    struct interruption interruption = {0};
    enum outcome outcome;

    tool_reports_reach_init(&reach, service->toolbox);
    survey->timeout = TOOL_REPORTS_SECONDS;
    survey->only = only;
    survey->done = tool_reports_on_done;
    outcome = toolbox_survey(service->toolbox, &reach.reach, survey);
    tool_reports_reach_deinit(&reach);
    if (outcome == OUTCOME_READY)
        return EX_OK;
    interruption_start(&interruption, service->loop);
    ev_run(service->loop, 0);
    interruption_stop(&interruption);
    return interruption.signal ? interruption_status(interruption.signal) : EX_OK;
}

void tool_reports_failures(const struct tool_survey *survey)
{
    const char *name;
    json_t *reason;

    json_object_foreach (survey->failures, name, reason)
        log_error("the tools of %s: %s", name, json_string_value(reason));
}
