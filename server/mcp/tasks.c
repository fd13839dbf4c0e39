#include "server/mcp/tasks.h"

#include "base/json.h"
#include "server/mcp/peer.h"
#include "server/mcp/request.h"
#include "server/mcp/result.h"
#include "server/mcp/server.h"
#include "server/mcp/task.h"
#include "server/mcp/task_store.h"
#include "server/mcp/task_view.h"
#include "server/tools/tool.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PAGE_TASKS = 100, /* in one answer to tasks/list */
    ID_SHOWN_BYTES = 64,
};

static bool is_modern(const struct mcp_request *request)
{
    return mcp_version_is_modern(request->version);
}

/* The extension */

static bool has_extension(const struct mcp_request *request)
{
    const json_t *extensions = json_object_get(request->capabilities, "extensions");

    return json_is_object(json_object_get(extensions, TASKS_EXTENSION));
}

static int require_extension(struct mcp_request *request, struct error *err)
{
    json_decref(request->error_data);
    request->error_data =
        json_pack("{s:{s:{s:{}}}}", "requiredCapabilities", "extensions", TASKS_EXTENSION);
    return error_set(err, ERROR_MISSING_CAPABILITY,
                     "this needs a client that declares the extension " TASKS_EXTENSION);
}

int tasks_check_extension(struct mcp_request *request, struct error *err)
{
    return has_extension(request) ? 0 : require_extension(request, err);
}

/* From a call to a task */

static struct task_store *store_of(const struct job *job)
{
    return job->server->tasks;
}

static int tasks_admit(const struct job *job, struct error *err)
{
    return task_store_admit(store_of(job), job->invocation.caller->principal, err);
}

static enum outcome tasks_begin(struct job *job, const struct error *misfit, json_t **ret,
                                struct error *err)
{
    return misfit ? job_fail(job, misfit, ret, err) : job_start(job, ret, err);
}

/* 2026-07-28: the result that says that JOB is a task from now on. New reference. */
static json_t *become_task(struct job *job)
{
    const struct task *task = task_store_add(store_of(job), job, TASK_STORE_TTL);

    return result_finish_as(job->server, task->version, task_view(task), "task");
}

/* Where no more tasks are allowed, the request keeps waiting. */
static void tasks_on_leave(struct job *job)
{
    struct mcp_request *request = job->request;
    struct error err = ERROR_INIT;

    if (tasks_admit(job, &err) == 0)
        request->done(request, become_task(job), NULL);
}

/* Makes a task of a call that has ended at once with OUTCOME and *RET or ERR: the tool demands a
 * task. */
static enum outcome end_as_task(struct job *job, enum outcome outcome, json_t **ret,
                                struct error *err)
{
    struct mcp_request *request = job->request;
    json_t *result = STEAL_PTR(*ret);
    struct error_rest rest;
    struct error failed = ERROR_INIT_LONG(&rest);
    struct task *task;

    if (outcome == OUTCOME_FAILED)
        error_copy(&failed, err);
    error_clear(err);
    job->error_data = STEAL_PTR(request->error_data);
    task = task_store_add(store_of(job), job, TASK_STORE_TTL);
    *ret = result_finish_as(job->server, task->version, task_view(task), "task");
    task_settle(task, outcome, result, &failed);
    return OUTCOME_READY;
}

/* The server decides whether the call becomes a task. Questions before that are rounds of the
 * request. */
static enum outcome start_modern(struct job *job, const struct tool *tool,
                                 const struct error *misfit, json_t **ret, struct error *err)
{
    bool is_required = tool->task_support == TOOL_TASK_REQUIRED;
    struct error busy = ERROR_INIT;
    enum outcome outcome;

    if (is_required && tasks_admit(job, &busy) < 0)
        return job_fail(job, &busy, ret, err);
    job->invocation.wants_progress = true;
    outcome = tasks_begin(job, misfit, ret, err);
    if (outcome != OUTCOME_PENDING)
        return is_required && !misfit && !job->invocation.result.requests
                   ? end_as_task(job, outcome, ret, err)
                   : outcome;
    if (!is_required && tool->task_after > 0) {
        job_leave_after(job, tool->task_after, tasks_on_leave);
        return OUTCOME_PENDING;
    }
    if (tasks_admit(job, &busy) < 0)
        return OUTCOME_PENDING;
    *ret = become_task(job);
    return OUTCOME_READY;
}

/* Leaves *RET as it is when nothing is said. */
static int read_ttl(const json_t *wanted, double *ret, struct error *err)
{
    const json_t *ttl = json_object_get(wanted, "ttl");

    if (!json_is_object(wanted))
        return error_set(err, ERROR_INVALID_PARAMS, "task must be an object");
    if (!ttl || json_is_null(ttl))
        return 0;
    if (!json_is_number(ttl) || json_number_value(ttl) < 0)
        return error_set(err, ERROR_INVALID_PARAMS, "task.ttl must be a number of milliseconds");
    *ret =
        fmin(fmax(json_number_value(ttl) / 1e3, TASK_STORE_TTL_SHORTEST), TASK_STORE_TTL_LONGEST);
    return 0;
}

/* 2025-11-25: the client wants a task. It is notified only after it has the task's id. */
static enum outcome start_as_task(struct job *job, const struct error *misfit, json_t **ret,
                                  struct error *err)
{
    struct mcp_peer *peer = job->request->peer;
    struct error failed = ERROR_INIT;
    json_t *result = NULL;
    enum outcome outcome;
    struct task *task;
    double ttl = TASK_STORE_TTL;

    if (read_ttl(json_object_get(job->params, "task"), &ttl, err) < 0 || tasks_admit(job, err) < 0)
        return OUTCOME_FAILED;
    job->invocation.wants_progress = true;
    task = task_store_add(store_of(job), job, ttl);
    *ret = json_pack("{s:o}", "task", task_view(task));
    outcome = tasks_begin(job, misfit, &result, &failed);
    task_settle(task, outcome, result, &failed);
    task->peer = peer;
    return OUTCOME_READY;
}

static enum outcome start_legacy(struct job *job, const struct tool *tool,
                                 const struct error *misfit, json_t **ret, struct error *err)
{
    bool is_wanted = job->version == MCP_2025_11_25 && json_object_get(job->params, "task");

    if (is_wanted && tool->task_support == TOOL_TASK_FORBIDDEN)
        return error_set(err, ERROR_METHOD_NOT_FOUND, "%s cannot be called as a task", tool->name);
    if (!is_wanted && tool->task_support == TOOL_TASK_REQUIRED)
        return error_set(err, ERROR_METHOD_NOT_FOUND, "%s can only be called as a task",
                         tool->name);
    return is_wanted ? start_as_task(job, misfit, ret, err) : tasks_begin(job, misfit, ret, err);
}

enum outcome tasks_start_call(struct job *job, const struct error *misfit, json_t **ret,
                              struct error *err)
{
    const struct tool *tool = tool_of(job->invocation.entry);

    if (!is_modern(job->request))
        return start_legacy(job, tool, misfit, ret, err);
    if (tool->task_support == TOOL_TASK_REQUIRED && tasks_check_extension(job->request, err) < 0)
        return OUTCOME_FAILED;
    if (tool->task_support == TOOL_TASK_FORBIDDEN || !has_extension(job->request))
        return tasks_begin(job, misfit, ret, err);
    return start_modern(job, tool, misfit, ret, err);
}

/* The methods */

/* The task that REQUEST names, or NULL. */
static struct task *tasks_find(struct mcp_request *request, struct error *err)
{
    const json_t *id = json_object_get(request->params, "taskId");
    struct task *task;

    if (is_modern(request) && tasks_check_extension(request, err) < 0)
        return NULL;
    if (!json_is_string(id)) {
        error_set(err, ERROR_INVALID_PARAMS, "taskId must be there and be a string");
        return NULL;
    }
    task = task_store_find(request->peer->server->tasks, request, json_string_value(id));
    if (!task)
        error_set(err, ERROR_INVALID_PARAMS, "there is no task %.*s, or not any more",
                  ID_SHOWN_BYTES, json_string_value(id));
    return task;
}

static enum outcome tasks_answer(const struct mcp_request *request, json_t *result, json_t **ret)
{
    *ret = result_finish(request->peer->server, request->version, result);
    return OUTCOME_READY;
}

enum outcome tasks_get(struct mcp_request *request, json_t **ret, struct error *err)
{
    const struct task *task = tasks_find(request, err);

    return task ? tasks_answer(request, task_view_detailed(task), ret) : OUTCOME_FAILED;
}

enum outcome tasks_result(struct mcp_request *request, json_t **ret, struct error *err)
{
    struct task *task = tasks_find(request, err);

    return task ? task_wait(task, request, ret, err) : OUTCOME_FAILED;
}

enum outcome tasks_update(struct mcp_request *request, json_t **ret, struct error *err)
{
    const json_t *answers = json_object_get(request->params, "inputResponses");
    struct task *task = tasks_find(request, err);

    if (!task)
        return OUTCOME_FAILED;
    if (!json_is_object(answers))
        return error_set(err, ERROR_INVALID_PARAMS, "inputResponses must be an object");
    task_update(task, answers);
    return tasks_answer(request, json_object(), ret);
}

enum outcome tasks_cancel(struct mcp_request *request, json_t **ret, struct error *err)
{
    struct task *task = tasks_find(request, err);

    if (!task)
        return OUTCOME_FAILED;
    if (is_modern(request)) {
        task_cancel(task);
        return tasks_answer(request, json_object(), ret);
    }
    if (task_is_over(task))
        return error_set(err, ERROR_INVALID_PARAMS, "the task is over already");
    task_cancel(task);
    return tasks_answer(request, task_view(task), ret);
}

/* A cursor is the number of the last task before it. */
static int tasks_read_cursor(const json_t *cursor, unsigned long *ret, struct error *err)
{
    const char *text = json_string_value(cursor);
    char *end;

    *ret = 0;
    if (!cursor)
        return 0;
    if (!text || strspn(text, "0123456789") != json_string_length(cursor) || !*text)
        return error_set(err, ERROR_INVALID_PARAMS, "unknown cursor");
    errno = 0;
    *ret = strtoul(text, &end, 10);
    return errno == 0 ? 0 : error_set(err, ERROR_INVALID_PARAMS, "unknown cursor");
}

/* Anonymous callers would see each other's tasks. */
enum outcome tasks_list(struct mcp_request *request, json_t **ret, struct error *err)
{
    const struct task_store *store = request->peer->server->tasks;
    const struct task *task;
    unsigned long number;
    json_t *list;

    if (request->peer->anonymous)
        return error_set(err, ERROR_METHOD_NOT_FOUND,
                         "tasks/list needs a client that is identified");
    if (tasks_read_cursor(json_object_get(request->params, "cursor"), &number, err) < 0)
        return OUTCOME_FAILED;
    list = json_array();
    while (json_array_size(list) < PAGE_TASKS &&
           (task = task_store_next(store, request, number)) != NULL) {
        json_array_append_new(list, task_view(task));
        number = task->number;
    }
    *ret = json_pack("{s:o}", "tasks", list);
    if (task_store_next(store, request, number))
        json_object_set_new(*ret, "nextCursor", json_string_format("%lu", number));
    return OUTCOME_READY;
}
