#include "server/tools/python/manage_sessions.h"

#include "base/buffer.h"
#include "base/json.h"
#include "environments/environment.h"
#include "environments/notebook/notebooks.h"
#include "environments/workplace/working_directory.h"
#include "server/tools/python/python_host.h"
#include "server/tools/python/python_session.h"
#include "server/tools/tool.h"

#include <string.h>

#define MANAGE_SESSIONS_NAME "manage_sessions"

enum { MANAGE_SESSIONS_BYTES = 1 << 20 };

static const char manage_sessions_description[] =
    "The sessions of run_python. `list` shows yours; `close` ends one and frees its memory; "
    "`restart` gives one a new Python: its variables are gone, its name and files stay.";

static void manage_sessions_describe(const struct notebook *notebook, struct buffer *text)
{
    buffer_print(text, "%s: environment %s, working_directory %s, %lu cells executed, %s\n",
                 notebook_handle(notebook), notebook_environment(notebook)->name,
                 working_directory_handle(notebook_directory(notebook)), notebook_cells(notebook),
                 notebook_is_busy(notebook) ? "busy" : "idle");
}

static void manage_sessions_list(struct invocation *invocation, const struct notebooks *notebooks)
{
    const char *owner = invocation->caller->principal->name;
    struct notebook *notebook = NULL;
    struct buffer text;

    buffer_init(&text, MANAGE_SESSIONS_BYTES);
    while ((notebook = notebooks_next(notebooks, owner, notebook)))
        manage_sessions_describe(notebook, &text);
    if (buffer_length(&text) == 0)
        buffer_print(&text, "You have no sessions.\n");
    invocation_add_text(invocation, buffer_bytes(&text), buffer_length(&text) - 1);
    buffer_deinit(&text);
}

static void manage_sessions_say(struct invocation *invocation, const char *text)
{
    invocation_add_text(invocation, text, strlen(text));
}

static struct notebook *manage_sessions_find(const struct invocation *invocation,
                                             const struct notebooks *notebooks, struct error *err)
{
    const char *name = json_object_get_string(invocation->arguments, "session");
    struct notebook *notebook =
        name ? notebooks_find(notebooks, invocation->caller->principal->name, name) : NULL;

    if (!name)
        error_set(err, ERROR_INVALID_ARGUMENTS, "name the session");
    else if (!notebook)
        error_set(err, ERROR_INVALID_ARGUMENTS,
                  "there is no session \"%s\": it has ended, or never was", name);
    return notebook;
}

static int manage_sessions_restart(struct invocation *invocation, struct notebook *notebook,
                                   struct error *err)
{
    const struct python_host *host = invocation->data;
    struct environment *environment = python_session_renew(host, invocation->caller, notebook, err);

    if (!environment)
        return -1;
    if (notebooks_restart(host->settings.notebooks, notebook,
                          &(struct notebook_request){
                              .environment = environment,
                              .directory = notebook_directory(notebook),
                              .isolation = notebook_isolation(notebook),
                              .owner = invocation->caller->principal->name,
                              .picture_helper = python_host_picture_helper(host, environment),
                          },
                          err) < 0)
        return -1;
    manage_sessions_say(invocation, "The session has a new Python, without variables.");
    return 0;
}

static enum outcome manage_sessions_start(struct invocation *invocation, struct error *err)
{
    const struct python_host *host = invocation->data;
    struct notebooks *notebooks = host->settings.notebooks;
    const char *action = json_object_get_string(invocation->arguments, "action");
    struct notebook *notebook;

    if (strcmp(action, "list") == 0) {
        manage_sessions_list(invocation, notebooks);
        return OUTCOME_READY;
    }
    notebook = manage_sessions_find(invocation, notebooks, err);
    if (!notebook)
        return OUTCOME_FAILED;
    if (strcmp(action, "close") == 0) {
        notebooks_close(notebook);
        manage_sessions_say(invocation, "The session is closed.");
        return OUTCOME_READY;
    }
    return manage_sessions_restart(invocation, notebook, err) < 0 ? OUTCOME_FAILED : OUTCOME_READY;
}

static json_t *manage_sessions_schema(void)
{
    return json_pack("{s:s, s:{s:{s:s, s:[s,s,s]}, s:{s:s, s:s}}, s:[s], s:b}", //
                     "type", "object", "properties",                            //
                     "action", "type", "string", "enum", "list", "close", "restart", "session",
                     "type", "string", "description", "Of close and restart: its name.", "required",
                     "action", "additionalProperties", 0);
}

int manage_sessions_offer(struct registry *registry, struct python_host *host, struct error *err)
{
    struct tool tool = {
        .name = MANAGE_SESSIONS_NAME,
        .title = "Manage Python sessions",
        .description = manage_sessions_description,
        .data = host,
        .start = manage_sessions_start,
    };

    if (!notebooks_are_offered(host->settings.notebooks)) {
        if (registry_find(registry, REGISTRY_TOOLS, MANAGE_SESSIONS_NAME))
            registry_remove(registry, REGISTRY_TOOLS, MANAGE_SESSIONS_NAME);
        return 0;
    }
    tool.input_schema = manage_sessions_schema();
    return tool_offer(registry, &tool, err);
}
