#include "server/tool_catalog.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/list.h"
#include "base/log.h"
#include "base/memory.h"
#include "environments/environment.h"
#include "server/script_calls.h"
#include "server/tools/caller.h"

#include <stdlib.h>
#include <string.h>

#define TOOL_CATALOG_SECONDS          60. /* some have to be installed first */
#define TOOL_CATALOG_PATIENCE_SECONDS 5.  /* before the tools of the others are told */

/* Keeps the tools that the servers have listed so far. A server that is still waited for has its
 * earlier tools. */
static void tool_catalog_keep(struct tool_catalog *catalog)
{
    AUTO_JSON json_t *former = STEAL_PTR(catalog->tools);
    json_t *tool;
    bool is_news;
    size_t i;

    catalog->tools = json_copy(catalog->survey.tools);
    json_array_foreach (former, i, tool)
        if (tool_survey_waits_for(&catalog->survey, json_object_get_string(tool, "server")))
            json_array_append(catalog->tools, tool);
    is_news = !json_equal(catalog->tools, former);
    if (is_news)
        catalog->learned(catalog->data);
}

static void tool_catalog_stop(struct tool_catalog *catalog)
{
    if (!catalog->is_looking)
        return;
    ev_timer_stop(catalog->loop, &catalog->patience);
    tool_survey_deinit(&catalog->survey);
    catalog->is_looking = false;
}

static void tool_catalog_finish(struct tool_catalog *catalog)
{
    const char *server;
    json_t *reason;

    json_object_foreach (catalog->survey.failures, server, reason)
        log_warning("the tools of %s are not known: %s", server, json_string_value(reason));
    tool_catalog_keep(catalog);
    tool_catalog_stop(catalog);
}

static void tool_catalog_on_surveyed(struct tool_survey *survey)
{
    tool_catalog_finish(CONTAINER_OF(survey, struct tool_catalog, survey));
}

/* A server that is being installed, or is silent, keeps back no tools of others. */
static void tool_catalog_on_patience(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct tool_catalog *catalog = CONTAINER_OF(timer, struct tool_catalog, patience);

    (void)loop;
    (void)events;
    if (json_array_size(catalog->survey.tools) > 0)
        tool_catalog_keep(catalog);
}

static void tool_catalog_wait(struct tool_catalog *catalog)
{
    ev_now_update(catalog->loop);
    ev_timer_init(&catalog->patience, tool_catalog_on_patience, TOOL_CATALOG_PATIENCE_SECONDS, 0.);
    ev_timer_start(catalog->loop, &catalog->patience);
}

void tool_catalog_look(struct tool_catalog *catalog)
{
    AUTO_JSON json_t *names = toolbox_names(catalog->toolbox);
    AUTO_FREE const char **words = memory_new(json_array_size(names) + 1, sizeof *words);
    const struct tool_reach reach = {.principal = "", .environment = words, .is_isolated = true};
    const json_t *name;
    size_t i;

    json_array_foreach (names, i, name)
        words[i] = json_string_value(name);
    tool_catalog_stop(catalog);
    catalog->survey = (struct tool_survey){
        .timeout = TOOL_CATALOG_SECONDS,
        .done = tool_catalog_on_surveyed,
        .are_shared = true,
    };
    catalog->is_looking = true;
    tool_catalog_wait(catalog);
    if (toolbox_survey(catalog->toolbox, &reach, &catalog->survey) == OUTCOME_READY)
        tool_catalog_finish(catalog);
}

/* New reference. */
static json_t *tool_catalog_of(const struct tool_catalog *catalog, const char *server)
{
    json_t *found = json_array();
    json_t *tool;
    size_t i;

    json_array_foreach (catalog->tools, i, tool)
        if (strcmp(json_object_get_string(tool, "server"), server) == 0)
            json_array_append(found, tool);
    return found;
}

json_t *tool_catalog_find(const struct tool_catalog *catalog, const struct environment *environment,
                          const struct principal *principal)
{
    const struct script_calls calls = {
        .toolbox = catalog->toolbox,
        .environment = environment,
        .principal = principal ? principal->name : NULL,
        .limits = principal ? principal->limits : NULL,
    };
    const struct tool_reach reach = script_calls_reach(&calls);
    json_t *found = json_object();

    if (environment_lacks_tools(environment))
        return found;
    for (const char *const *name = reach.environment; name && *name; name++)
        if (toolbox_reaches(catalog->toolbox, &reach, *name))
            json_object_set_new(found, *name, tool_catalog_of(catalog, *name));
    return found;
}

void tool_catalog_deinit(struct tool_catalog *catalog)
{
    tool_catalog_stop(catalog);
    json_decref(STEAL_PTR(catalog->tools));
}
