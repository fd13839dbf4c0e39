#include "server/commands/doctor_nodes.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/list.h"
#include "base/memory.h"
#include "environments/nodes/node_survey.h"
#include "server/commands/command.h"
#include "server/commands/doctor_verdict.h"
#include "server/commands/step_display.h"
#include "server/service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct doctor_node {
    const struct doctor_nodes *settings;
    struct node_survey survey;
    struct step_display display;
    struct step_line line;
};

static void doctor_nodes_on_step(struct node_survey *survey, const char *text)
{
    struct doctor_node *node = CONTAINER_OF(survey, struct doctor_node, survey);
    struct preparation_step step = {.fraction = -1};

    snprintf(step.text, sizeof step.text, "%s", text);
    step_display_follow(&node->display, &node->line, &step);
}

static void doctor_nodes_on_over(struct node_survey *survey)
{
    ev_break(CONTAINER_OF(survey, struct doctor_node, survey)->settings->loop, EVBREAK_ALL);
}

static void doctor_nodes_print_costs(const char *name, const struct node_pool *pool,
                                     const struct node_survey *survey)
{
    AUTO_FREE char *start = memory_format(
        "%s; started in %.1f ms; %s", json_string_value(survey->title), survey->start_seconds * 1e3,
        node_pool_has_copies(pool) ? "files are copied to it and back"
                                   : "it has the server's working directories");
    AUTO_FREE char *trip = memory_format("%.2f ms", survey->trip_seconds * 1e3);
    AUTO_FREE char *rate =
        memory_format("%.1f MB/s, there and back", survey->bytes_per_second / 1e6);

    command_print_line("yes", name, start);
    command_print_line("", "  round trip", trip);
    command_print_line("", "  throughput", rate);
}

static void doctor_nodes_print_survey(const struct doctor_nodes *settings, const char *name,
                                      const struct node_pool *pool,
                                      const struct node_survey *survey)
{
    if (settings->interruption->signal)
        return;
    if (!survey->fault) {
        doctor_nodes_print_costs(name, pool, survey);
        return;
    }
    command_print_line("no", name, survey->fault);
    doctor_verdict_add_fault(settings->verdict, name, survey->fault);
}

static void doctor_nodes_look_at(const struct doctor_nodes *settings, const char *name,
                                 struct node_pool *pool)
{
    struct doctor_node node = {
        .settings = settings,
        .survey = {.loop = settings->loop,
                   .step = doctor_nodes_on_step,
                   .over = doctor_nodes_on_over},
    };

    fflush(stdout);
    step_display_init(&node.display, settings->loop);
    step_line_init(&node.line, name);
    interruption_start(settings->interruption, settings->loop);
    node_survey_begin(&node.survey, pool);
    ev_run(settings->loop, 0);
    interruption_stop(settings->interruption);
    step_display_deinit(&node.display);
    doctor_nodes_print_survey(settings, name, pool, &node.survey);
    node_survey_deinit(&node.survey);
}

void doctor_nodes_print(const struct doctor_nodes *settings)
{
    const char *name;
    json_t *definition;

    if (json_object_size(settings->definitions) > 0)
        printf("nodes\n");
    json_object_foreach ((json_t *)settings->definitions, name, definition) {
        AUTO_JSON json_t *whole = service_node(settings->definitions, name);
        struct node_pool *pool;

        if (settings->interruption->signal)
            return;
        pool = node_pool_hold(settings->nodes, whole);
        doctor_nodes_look_at(settings, name, pool);
        node_pool_release(pool);
    }
}

char *doctor_nodes_find_remedy(const json_t *definition)
{
    const json_t *launcher = json_object_get(definition, "launcher");
    const size_t last = json_array_size(launcher) - 1;
    char *line;

    if (strcmp(json_string_value(json_array_get(launcher, last)), "node") != 0)
        return NULL;
    line = memory_copy_string("doctor");
    for (size_t i = last; i-- > 0;) {
        char *longer = memory_format("%s %s", json_string_value(json_array_get(launcher, i)), line);

        free(line);
        line = longer;
    }
    return line;
}
