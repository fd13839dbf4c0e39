/* The MCP servers of the operator whose tools scripts may call: `tools` in the configuration.
 *
 * A server is reached at its first use. It has one instance for all principals; with `instance:
 * caller` each principal has its own. Nothing here asks a person: a call of a tool
 * whose `asks` is true fails, unless who calls says that it is approved. */
#pragma once

#include "base/error.h"
#include "base/outcome.h"
#include "toolbox/tool_call.h"

#include <ev.h>
#include <jansson.h>
#include <stdbool.h>

struct process_host;
struct server_surroundings;
struct tool_survey;
struct toolbox;

/* Definitions that are not in use yet. */
struct toolbox_plan;

struct toolbox_plan *toolbox_plan_new(void);
void toolbox_plan_free(struct toolbox_plan *plan);

/* Adds the server NAME; see server_settings_new. */
int toolbox_plan_add(struct toolbox_plan *plan, const char *name, const json_t *definition,
                     const struct server_surroundings *around, const char **ret_key,
                     struct error *err);

struct toolbox_settings {
    struct ev_loop *loop;      /* borrowed, as all */
    struct process_host *host; /* outlives the toolbox */
    const char *version;       /* of this program */
    double waiting;            /* seconds that a slow server keeps surveys waiting; 0: 45, or 5 if
                                  it is reached over HTTP */
};

struct toolbox *toolbox_new(const struct toolbox_settings *settings);

/* The servers of PLAN replace all others. A server that has not changed stays as it is, and calls
 * under way go on. */
void toolbox_adopt(struct toolbox *toolbox, struct toolbox_plan *plan /* taken */);

/* Leaves every server now; each call under way fails. */
void toolbox_stop(struct toolbox *toolbox);

/* True when nothing of any server is left here. */
bool toolbox_is_idle(const struct toolbox *toolbox);

/* Frees an idle toolbox; NULL is fine. */
void toolbox_free(struct toolbox *toolbox);

/* The names of all servers, as they were configured: array of strings. New reference. */
json_t *toolbox_names(const struct toolbox *toolbox);

/* The reach of a script. Everything is borrowed. */
struct tool_reach {
    const char *principal;          /* of its caller */
    const char *const *environment; /* names of servers, NULL-terminated; NULL: none */
    const char *const *token;       /* and of these; NULL: all */
    bool is_isolated; /* else it can read secrets of this user's programs: it reaches no server
                         that has one, unless the operator says `any_isolation` */
};

/* True when REACH has the server NAME. */
bool toolbox_reaches(const struct toolbox *toolbox, const struct tool_reach *reach,
                     const char *name);

/* 0: `done` of CALL will come, never from inside. -1 with ERR, and then it does not: ERROR_DENIED,
 * also for a server that is not there; the kinds that `done` has. */
int toolbox_call(struct toolbox *toolbox, const struct tool_reach *reach, struct tool_call *call,
                 struct error *err);

/* A look at the tools of all servers of a reach. */
struct tool_survey {
    /* Inputs. */
    double timeout;     /* seconds to wait for servers that have to be reached first */
    double far_timeout; /* and for those over HTTP, of which nothing has to be installed; 0: the
                           same */
    void (*done)(struct tool_survey *survey);
    const char *only; /* borrowed until toolbox_survey returns: the name of one server; or NULL */
    bool are_shared;  /* servers with an instance for each principal are left out */

    /* Results, which grow until `done`; owned until tool_survey_deinit. */
    json_t *tools;    /* array of objects: server, name, title, summary (a sentence), description,
                         inputSchema, outputSchema, annotations, approval ("never", "writes",
                         "always"), asks (a person has to be asked) */
    json_t *failures; /* object: the reason, by the name of each server that cannot be reached */

    /* Private. */
    struct tool_survey_place *places; /* owned */
    size_t count;
    size_t open;
    bool programs_only;   /* those over HTTP are not waited for any more */
    struct ev_loop *loop; /* borrowed */
    ev_timer deadline;
};

/* READY: the results are there. PENDING: `done` is called when they are, never from inside. */
enum outcome toolbox_survey(struct toolbox *toolbox, const struct tool_reach *reach,
                            struct tool_survey *survey);

/* True while the server NAME has not listed its tools, nor failed. */
bool tool_survey_waits_for(const struct tool_survey *survey, const char *name);

/* May be called at any time after toolbox_survey: `done` does not come any more. */
void tool_survey_deinit(struct tool_survey *survey);
