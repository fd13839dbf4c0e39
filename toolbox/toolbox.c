#include "toolbox/toolbox.h"

#include "base/cleanup.h"
#include "base/curl/curl_library.h"
#include "base/curl/transfer.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/spelling.h"
#include "toolbox/server_settings.h"
#include "toolbox/tool_server.h"

#include <stdlib.h>
#include <string.h>

#define TOOLBOX_WAITING_SECONDS 45.0 /* programs may have to be installed first */
#define TOOLBOX_FAR_SECONDS     5.0  /* servers over HTTP need not */

enum { TOOLBOX_INSTANCES = 64 }; /* of one server */

/* A server with its instances. */
struct toolbox_entry {
    struct list link;
    struct server_settings *settings; /* owned: a reference */
    struct list servers;              /* owned */
    unsigned count;
};

struct toolbox_plan {
    struct list entries;
};

struct toolbox {
    struct tool_server_means means;
    struct list entries;
    struct list retired; /* servers that are still left */
    ev_timer reaping;    /* at once: frees servers that rest */
};

/* Plans */

struct toolbox_plan *toolbox_plan_new(void)
{
    struct toolbox_plan *plan = NEW(struct toolbox_plan);

    list_init(&plan->entries);
    return plan;
}

/* Its servers are gone. */
static void toolbox_entry_free(struct toolbox_entry *entry)
{
    list_remove(&entry->link);
    server_settings_unref(entry->settings);
    free(entry);
}

void toolbox_plan_free(struct toolbox_plan *plan)
{
    if (!plan)
        return;
    LIST_FOR_EACH_SAFE (&plan->entries, link) {
        toolbox_entry_free(CONTAINER_OF(link, struct toolbox_entry, link));
    }
    free(plan);
}

int toolbox_plan_add(struct toolbox_plan *plan, const char *name, const json_t *definition,
                     const struct server_surroundings *around, const char **ret_key,
                     struct error *err)
{
    struct server_settings *settings = server_settings_new(name, definition, around, ret_key, err);
    struct toolbox_entry *entry;

    if (!settings)
        return -1;
    entry = NEW(struct toolbox_entry);
    entry->settings = settings;
    list_init(&entry->servers);
    list_append(&plan->entries, &entry->link);
    return 0;
}

/* The set */

static void toolbox_on_reaping(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct toolbox *toolbox = CONTAINER_OF(timer, struct toolbox, reaping);

    (void)loop;
    (void)events;
    LIST_FOR_EACH_SAFE (&toolbox->retired, link) {
        struct tool_server *server = CONTAINER_OF(link, struct tool_server, link);

        if (server->state == TOOL_SERVER_RESTING && server->calls.count == 0)
            tool_server_free(server);
    }
}

static void toolbox_on_retired(struct tool_server *server)
{
    struct toolbox *toolbox = server->data;

    ev_timer_start(toolbox->means.loop, &toolbox->reaping);
}

struct toolbox *toolbox_new(const struct toolbox_settings *settings)
{
    struct toolbox *toolbox = NEW(struct toolbox);

    toolbox->means = (struct tool_server_means){
        .loop = settings->loop,
        .host = settings->host,
        .version = settings->version,
        .waiting = settings->waiting > 0 ? settings->waiting : TOOLBOX_WAITING_SECONDS,
        .far_waiting = settings->waiting > 0 ? settings->waiting : TOOLBOX_FAR_SECONDS,
    };
    list_init(&toolbox->entries);
    list_init(&toolbox->retired);
    ev_timer_init(&toolbox->reaping, toolbox_on_reaping, 0., 0.);
    return toolbox;
}

static void toolbox_entry_retire(struct toolbox *toolbox, struct toolbox_entry *entry)
{
    LIST_FOR_EACH_SAFE (&entry->servers, link) {
        list_remove(link);
        list_append(&toolbox->retired, link);
        tool_server_retire(CONTAINER_OF(link, struct tool_server, link));
    }
    toolbox_entry_free(entry);
}

static struct toolbox_entry *toolbox_find(const struct list *entries, const char *name)
{
    LIST_FOR_EACH (entries, link) {
        struct toolbox_entry *entry = CONTAINER_OF(link, struct toolbox_entry, link);

        if (strcmp(entry->settings->name, name) == 0)
            return entry;
    }
    return NULL;
}

/* libcurl is loaded when a server needs it. Without it, only that server fails. */
static void toolbox_need_transfers(struct toolbox *toolbox, const struct server_settings *settings)
{
    struct error err = ERROR_INIT;

    if (settings->url && !toolbox->means.transfers && curl_library_load(&err) == 0)
        toolbox->means.transfers = transfers_new(toolbox->means.loop);
}

/* The entry of OLD that is the same as ENTRY takes its place. */
static struct toolbox_entry *toolbox_keep(struct list *old, struct toolbox_entry *entry)
{
    struct toolbox_entry *kept = toolbox_find(old, entry->settings->name);

    if (!kept || !server_settings_are_equal(kept->settings, entry->settings))
        return entry;
    toolbox_entry_free(entry);
    return kept;
}

void toolbox_adopt(struct toolbox *toolbox, struct toolbox_plan *plan)
{
    struct list adopted;

    list_init(&adopted);
    LIST_FOR_EACH_SAFE (&plan->entries, link) {
        struct toolbox_entry *entry =
            toolbox_keep(&toolbox->entries, CONTAINER_OF(link, struct toolbox_entry, link));

        toolbox_need_transfers(toolbox, entry->settings);
        list_remove(&entry->link);
        list_append(&adopted, &entry->link);
    }
    LIST_FOR_EACH_SAFE (&toolbox->entries, link) {
        toolbox_entry_retire(toolbox, CONTAINER_OF(link, struct toolbox_entry, link));
    }
    LIST_FOR_EACH_SAFE (&adopted, link) {
        list_remove(link);
        list_append(&toolbox->entries, link);
    }
    toolbox_plan_free(plan);
}

void toolbox_stop(struct toolbox *toolbox)
{
    LIST_FOR_EACH_SAFE (&toolbox->entries, link) {
        toolbox_entry_retire(toolbox, CONTAINER_OF(link, struct toolbox_entry, link));
    }
    LIST_FOR_EACH (&toolbox->retired, link) {
        tool_server_leave(CONTAINER_OF(link, struct tool_server, link), true);
    }
}

bool toolbox_is_idle(const struct toolbox *toolbox)
{
    LIST_FOR_EACH (&toolbox->retired, link) {
        if (CONTAINER_OF(link, struct tool_server, link)->state != TOOL_SERVER_RESTING)
            return false;
    }
    return list_is_empty(&toolbox->entries);
}

void toolbox_free(struct toolbox *toolbox)
{
    if (!toolbox)
        return;
    ev_timer_stop(toolbox->means.loop, &toolbox->reaping);
    LIST_FOR_EACH_SAFE (&toolbox->retired, link) {
        tool_server_free(CONTAINER_OF(link, struct tool_server, link));
    }
    if (toolbox->means.transfers)
        transfers_free(toolbox->means.transfers);
    free(toolbox);
}

json_t *toolbox_names(const struct toolbox *toolbox)
{
    json_t *names = json_array();

    LIST_FOR_EACH (&toolbox->entries, link) {
        const struct toolbox_entry *entry = CONTAINER_OF(link, struct toolbox_entry, link);

        json_array_append_new(names, json_string(entry->settings->name));
    }
    return names;
}

/* Reach */

static bool toolbox_lists(const char *const *names, const char *name)
{
    for (; *names; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

static bool toolbox_entry_is_reached(const struct toolbox_entry *entry,
                                     const struct tool_reach *reach)
{
    const struct server_settings *settings = entry->settings;

    return reach->environment && toolbox_lists(reach->environment, settings->name) &&
           (!reach->token || toolbox_lists(reach->token, settings->name)) &&
           (reach->is_isolated || settings->any_isolation || !server_settings_has_secret(settings));
}

bool toolbox_reaches(const struct toolbox *toolbox, const struct tool_reach *reach,
                     const char *name)
{
    const struct toolbox_entry *entry = toolbox_find(&toolbox->entries, name);

    return entry && toolbox_entry_is_reached(entry, reach);
}

/* An instance that nobody uses makes room. */
static bool toolbox_make_room(struct toolbox *toolbox, struct toolbox_entry *entry)
{
    LIST_FOR_EACH (&entry->servers, link) {
        struct tool_server *server = CONTAINER_OF(link, struct tool_server, link);

        if (server->calls.count > 0 || !list_is_empty(&server->waiters))
            continue;
        list_remove(link);
        list_append(&toolbox->retired, link);
        tool_server_retire(server);
        entry->count--;
        return true;
    }
    return false;
}

/* The instance for PRINCIPAL. NULL with ERROR_BUSY if there are too many. */
static struct tool_server *toolbox_find_server(struct toolbox *toolbox, struct toolbox_entry *entry,
                                               const char *principal, struct error *err)
{
    const char *owner = entry->settings->by_caller ? principal : NULL;
    struct tool_server *server;

    LIST_FOR_EACH (&entry->servers, link) {
        server = CONTAINER_OF(link, struct tool_server, link);
        if (!owner || strcmp(server->principal, owner) == 0)
            return server;
    }
    if (entry->count >= TOOLBOX_INSTANCES && !toolbox_make_room(toolbox, entry)) {
        error_set(err, ERROR_BUSY, "%s: %d clients use an instance of it; try again later",
                  entry->settings->name, TOOLBOX_INSTANCES);
        return NULL;
    }
    server = tool_server_new(&toolbox->means, entry->settings, owner);
    server->retired = toolbox_on_retired;
    server->data = toolbox;
    list_append(&entry->servers, &server->link);
    entry->count++;
    return server;
}

/* A name that is out of reach is as good as none: it is not told apart. */
static struct toolbox_entry *toolbox_find_reached(const struct toolbox *toolbox,
                                                  const struct tool_reach *reach, const char *name,
                                                  struct error *err)
{
    struct spelling spelling = SPELLING_INIT(name);

    LIST_FOR_EACH (&toolbox->entries, link) {
        struct toolbox_entry *entry = CONTAINER_OF(link, struct toolbox_entry, link);

        if (!toolbox_entry_is_reached(entry, reach))
            continue;
        if (strcmp(entry->settings->name, name) == 0)
            return entry;
        spelling_try(&spelling, entry->settings->name);
    }
    if (spelling.nearest)
        error_set(err, ERROR_DENIED, "there is no server \"%.100s\", did you mean \"%s\"?", name,
                  spelling.nearest);
    else
        error_set(err, ERROR_DENIED, "there is no server \"%.100s\" here", name);
    return NULL;
}

int toolbox_call(struct toolbox *toolbox, const struct tool_reach *reach, struct tool_call *call,
                 struct error *err)
{
    struct toolbox_entry *entry = toolbox_find_reached(toolbox, reach, call->server, err);
    struct tool_server *server;

    if (!entry)
        return -1;
    call->principal = reach->principal ? reach->principal : "";
    server = toolbox_find_server(toolbox, entry, reach->principal, err);
    return server ? tool_server_call(server, call, err) : -1;
}

/* Surveys */

struct tool_survey_place {
    struct tool_survey *survey; /* borrowed */
    struct tool_server *server; /* borrowed; NULL: it is noted */
    struct tool_waiter waiter;
};

/* The description of TOOL. New reference. */
static json_t *toolbox_describe(const struct server_settings *settings, const json_t *tool)
{
    const char *description = json_object_get_string(tool, "description");
    const char *name = json_object_get_string(tool, "name");
    const bool asks = server_settings_asks(settings, name, json_object_get(tool, "annotations"));
    const enum tool_approval approval = server_settings_approval(settings, name);
    AUTO_FREE char *summary = tool_list_shorten(description ? description : "");
    json_t *told = json_pack("{s:s}", "server", settings->name);

    json_object_update(told, (json_t *)tool);
    json_object_set_new(told, "summary", json_string(summary));
    json_object_set_new(told, "approval", json_string(tool_approval_name(approval)));
    json_object_set_new(told, "asks", json_boolean(asks));
    return told;
}

static void tool_survey_note(struct tool_survey_place *place, const struct error *err)
{
    struct tool_survey *survey = place->survey;
    const struct tool_server *server = place->server;
    const char *name;
    json_t *tool;

    place->server = NULL;
    if (err) {
        AUTO_FREE char *text = error_text(err);

        json_object_set_new(survey->failures, server->settings->name,
                            json_string_repaired(text, strlen(text)));
        return;
    }
    json_object_foreach ((json_t *)tool_server_tools(server), name, tool)
        json_array_append_new(survey->tools, toolbox_describe(server->settings, tool));
}

static void tool_survey_finish(struct tool_survey *survey)
{
    ev_timer_stop(survey->loop, &survey->deadline);
    survey->done(survey);
}

static void tool_survey_on_listed(struct tool_waiter *waiter, const struct error *err)
{
    struct tool_survey_place *place = CONTAINER_OF(waiter, struct tool_survey_place, waiter);
    struct tool_survey *survey = place->survey;

    tool_survey_note(place, err);
    if (--survey->open == 0)
        tool_survey_finish(survey);
}

/* Servers that keep SURVEY waiting do so no longer; they are reached further. */
static void tool_survey_give_up(struct tool_survey *survey, double seconds)
{
    struct error err = ERROR_INIT;

    error_set(&err, ERROR_TIMEOUT, "it cannot be reached yet: it was not ready after %g seconds",
              seconds);
    for (size_t i = 0; i < survey->count; i++) {
        struct tool_survey_place *place = &survey->places[i];

        if (!place->server || (survey->programs_only && !place->server->settings->url))
            continue;
        list_remove(&place->waiter.link);
        tool_survey_note(place, &err);
        survey->open--;
    }
}

static void tool_survey_start_deadline(struct tool_survey *survey, double seconds)
{
    ev_now_update(survey->loop);
    ev_timer_set(&survey->deadline, seconds, 0.);
    ev_timer_start(survey->loop, &survey->deadline);
}

static void tool_survey_on_deadline(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct tool_survey *survey = CONTAINER_OF(timer, struct tool_survey, deadline);
    const bool is_last = survey->programs_only || survey->far_timeout <= 0;

    (void)loop;
    (void)events;
    survey->programs_only = !is_last;
    tool_survey_give_up(survey, is_last ? survey->timeout : survey->far_timeout);
    if (survey->open == 0)
        tool_survey_finish(survey);
    else
        tool_survey_start_deadline(survey, survey->timeout - survey->far_timeout);
}

static void tool_survey_look(struct toolbox *toolbox, const struct tool_reach *reach,
                             struct toolbox_entry *entry, struct tool_survey_place *place)
{
    struct error_rest rest;
    struct error err = ERROR_INIT_LONG(&rest);
    enum outcome outcome = OUTCOME_FAILED;

    place->waiter.listed = tool_survey_on_listed;
    list_init(&place->waiter.link);
    place->server = toolbox_find_server(toolbox, entry, reach->principal, &err);
    if (!place->server) {
        json_object_set_new(place->survey->failures, entry->settings->name,
                            json_string(err.message));
        return;
    }
    outcome = tool_server_look(place->server, &place->waiter, &err);
    if (outcome == OUTCOME_PENDING)
        place->survey->open++;
    else
        tool_survey_note(place, outcome == OUTCOME_FAILED ? &err : NULL);
}

static size_t toolbox_count(const struct toolbox *toolbox)
{
    size_t count = 0;

    LIST_FOR_EACH (&toolbox->entries, link) {
        count++;
    }
    return count;
}

enum outcome toolbox_survey(struct toolbox *toolbox, const struct tool_reach *reach,
                            struct tool_survey *survey)
{
    survey->loop = toolbox->means.loop;
    survey->tools = json_array();
    survey->failures = json_object();
    survey->places = memory_new(toolbox_count(toolbox) + 1, sizeof *survey->places);
    survey->count = 0;
    survey->open = 0;
    survey->programs_only = false;
    ev_init(&survey->deadline, tool_survey_on_deadline);
    LIST_FOR_EACH (&toolbox->entries, link) {
        struct toolbox_entry *entry = CONTAINER_OF(link, struct toolbox_entry, link);

        if (!toolbox_entry_is_reached(entry, reach) ||
            (survey->only && strcmp(survey->only, entry->settings->name) != 0) ||
            (survey->are_shared && entry->settings->by_caller))
            continue;
        survey->places[survey->count].survey = survey;
        tool_survey_look(toolbox, reach, entry, &survey->places[survey->count++]);
    }
    if (survey->open == 0)
        return OUTCOME_READY;
    tool_survey_start_deadline(survey,
                               survey->far_timeout > 0 ? survey->far_timeout : survey->timeout);
    return OUTCOME_PENDING;
}

bool tool_survey_waits_for(const struct tool_survey *survey, const char *name)
{
    for (size_t i = 0; i < survey->count; i++) {
        const struct tool_server *server = survey->places[i].server;

        if (server && strcmp(server->settings->name, name) == 0)
            return true;
    }
    return false;
}

void tool_survey_deinit(struct tool_survey *survey)
{
    if (!survey->places)
        return;
    ev_timer_stop(survey->loop, &survey->deadline);
    for (size_t i = 0; i < survey->count; i++)
        list_remove(&survey->places[i].waiter.link);
    free(STEAL_PTR(survey->places));
    json_decref(survey->tools);
    json_decref(survey->failures);
}
