/* The servers of tools, for the commands that report about them. */
#pragma once

#include "base/error.h"
#include "toolbox/toolbox.h"

#include <jansson.h>
#include <stdbool.h>

struct service;

/* The reach of the operator: all servers. */
struct tool_reports_reach {
    struct tool_reach reach;
    json_t *names;      /* owned */
    const char **words; /* owned */
    char *principal;    /* owned */
};

void tool_reports_reach_init(struct tool_reports_reach *reach, const struct toolbox *toolbox);
void tool_reports_reach_deinit(struct tool_reports_reach *reach);

/* False with ERR, which names the nearest. */
bool tool_reports_has_server(const struct service *service, const char *name, struct error *err);

/* Looks at the tools of the server ONLY, or of all (NULL), and waits. SURVEY, zeroed, is for the
 * caller to deinitialize. An exit status that is not 0: a signal has ended the wait. */
int tool_reports_survey(struct service *service, const char *only, struct tool_survey *survey);

/* Tells on stderr which servers cannot be reached. */
void tool_reports_failures(const struct tool_survey *survey);
