#include "server/commands/doctor_tools.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "environments/catalog/catalog.h"
#include "environments/environment.h"
#include "server/commands/command.h"
#include "server/commands/doctor_verdict.h"
#include "server/commands/tool_reports.h"
#include "server/service.h"

#include <stdio.h>
#include <string.h>
#include <sysexits.h>

static unsigned doctor_tools_count(const struct tool_survey *survey, const char *server)
{
    unsigned count = 0;
    const json_t *tool;
    size_t i;

    json_array_foreach (survey->tools, i, tool)
        count += strcmp(json_object_get_string(tool, "server"), server) == 0;
    return count;
}

static void doctor_tools_print(const struct tool_survey *survey, const char *server,
                               struct doctor_verdict *verdict)
{
    const char *failure = json_object_get_string(survey->failures, server);
    AUTO_FREE char *text = NULL;

    if (failure) {
        command_print_line("no", server, failure);
        text = memory_format("tools of %s: %.*s", server, (int)strcspn(failure, "\n"), failure);
        doctor_verdict_add_lack(verdict, text, NULL);
        return;
    }
    text = memory_format("%u tools", doctor_tools_count(survey, server));
    command_print_line("yes", server, text);
}

/* Says which environments have tools that their scripts cannot call. */
static void doctor_tools_print_places(const struct catalog *catalog, struct doctor_verdict *verdict)
{
    for (size_t i = 0; i < catalog_count(catalog); i++) {
        const struct environment *environment = catalog_at(catalog, i);
        const char *reason = environment_lacks_tools(environment);
        AUTO_FREE char *text = NULL;
        AUTO_FREE char *lack = NULL;

        if (!reason)
            continue;
        text = memory_format("its scripts cannot call tools: %s", reason);
        lack = memory_format("environment %s: %s", environment->name, text);
        command_print_line("no", environment->name, text);
        doctor_verdict_add_lack(verdict, lack, NULL);
    }
}

void doctor_tools_report(struct service *service, struct doctor_verdict *verdict)
{
    AUTO_JSON json_t *names = toolbox_names(service->toolbox);
    AUTO(tool_survey_deinit) struct tool_survey survey = {0};
    const json_t *name;
    size_t i;

    if (json_array_size(names) == 0)
        return;
    printf("tools\n");
    fflush(stdout);
    if (tool_reports_survey(service, NULL, &survey) != EX_OK)
        return;
    json_array_foreach (names, i, name)
        doctor_tools_print(&survey, json_string_value(name), verdict);
    doctor_tools_print_places(service->catalog, verdict);
}
