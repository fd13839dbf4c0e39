#include "server/mcp/task.h"

#include "base/clock.h"
#include "base/handle.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/state.h"
#include "server/mcp/logging.h"
#include "server/mcp/peer.h"
#include "server/mcp/request.h"
#include "server/mcp/result.h"
#include "server/mcp/server.h"
#include "server/mcp/task_store.h"
#include "server/mcp/task_view.h"

#include <stdlib.h>
#include <string.h>

enum { ID_DIGITS = 32 }; /* 128 bits */

enum { TASK_ENDS = 1 << TASK_COMPLETED | 1 << TASK_FAILED | 1 << TASK_CANCELLED };

static const struct state task_statuses[] = {
    [TASK_WORKING] = {"working", 1 << TASK_INPUT_REQUIRED | TASK_ENDS},
    [TASK_INPUT_REQUIRED] = {"input_required", 1 << TASK_WORKING | TASK_ENDS},
    [TASK_COMPLETED] = {"completed", 0},
    [TASK_FAILED] = {"failed", 0},
    [TASK_CANCELLED] = {"cancelled", 0},
};

const char *task_status_name(enum task_status status)
{
    return task_statuses[status].name;
}

bool task_is_over(const struct task *task)
{
    return task->status >= TASK_COMPLETED;
}

/* Telling */

/* Notifies the session that the task came from. */
static void task_tell(struct task *task, const char *method, json_t *params /* taken */)
{
    json_object_set_new(params, "_meta", task_view_related(task));
    task->peer->notify(task->peer, method, params);
}

static void tell_status(struct task *task)
{
    if (task->peer && !mcp_version_is_modern(task->version))
        task->peer->notify(task->peer, "notifications/tasks/status", task_view(task));
    task_store_tell(task->store, task);
}

static void task_touch(struct task *task)
{
    clock_gettime(CLOCK_REALTIME, &task->updated);
}

static void task_set_status(struct task *task, enum task_status status)
{
    state_change(task_statuses, task->status, status, "task %lu", task->number);
    task->status = status;
    task_touch(task);
    tell_status(task);
}

static void set_message(struct task *task, const char *message)
{
    free(task->message);
    task->message = message ? memory_copy_string(message) : NULL;
}

static struct task *task_of(struct job_keeper *keeper)
{
    return CONTAINER_OF(keeper, struct task, keeper);
}

static void task_on_progress(struct job_keeper *keeper, double progress, double total,
                             const char *message)
{
    struct task *task = task_of(keeper);
    json_t *params = NULL;

    if (message) {
        set_message(task, message);
        task_touch(task);
    }
    if (task->peer && !task->peer->slow)
        params = progress_next(&task->progress, task->version, progress, total, message);
    if (params)
        task_tell(task, "notifications/progress", params);
}

static void task_on_log(struct job_keeper *keeper, enum log_severity level, const char *logger,
                        json_t *data)
{
    struct task *task = task_of(keeper);
    struct mcp_peer *peer = task->peer;

    if (peer && !peer->slow && (int)level <= peer->log_level)
        task_tell(task, "notifications/message", logging_params(level, logger, data));
    else
        json_decref(data);
}

/* Asking */

/* Asks on the stream of the first request that waits and can carry questions. */
static void task_ask(struct task *task)
{
    LIST_FOR_EACH (&task->waiters, link) {
        struct error err = ERROR_INIT;

        if (rounds_ask_on(task->job, CONTAINER_OF(link, struct mcp_request, waiting), &err) == 0)
            return;
    }
}

/* A question on the stream of another request names the task that it belongs to. */
static void mark_requests(const struct task *task)
{
    const char *key;
    json_t *question;

    json_object_foreach (task->job->rounds.asked, key, question) {
        json_t *params = json_object_get(question, "params");

        if (!params) {
            params = json_object();
            json_object_set_new(question, "params", params);
        }
        json_object_set_new(params, "_meta", task_view_related(task));
    }
}

static void task_on_ask(struct job_keeper *keeper)
{
    struct task *task = task_of(keeper);

    if (!mcp_version_is_modern(task->version))
        mark_requests(task);
    task_set_status(task, TASK_INPUT_REQUIRED);
    if (!mcp_version_is_modern(task->version))
        task_ask(task);
}

/* The keys of the first round have no number. */
static json_t *round_key(const struct task *task, const char *key)
{
    return task->job->rounds.count > 1 ? json_string_format("%s-%u", key, task->job->rounds.count)
                                       : json_string(key);
}

json_t *task_requests(const struct task *task)
{
    json_t *requests = json_object();
    const char *key;
    json_t *question;

    json_object_foreach (task->job->rounds.asked, key, question) {
        AUTO_JSON json_t *name = round_key(task, key);

        json_object_set(requests, json_string_value(name), question);
    }
    return requests;
}

/* The ANSWERS to the open questions, by the keys that the job knows. New reference. */
static json_t *find_answers(const struct task *task, const json_t *answers)
{
    json_t *found = json_object();
    const char *key;
    json_t *question;

    json_object_foreach (task->job->rounds.asked, key, question) {
        AUTO_JSON json_t *name = round_key(task, key);
        json_t *answer = json_object_get(answers, json_string_value(name));

        if (json_is_object(answer))
            json_object_set(found, key, answer);
    }
    return found;
}

/* The last answer continues the job, which may end the task: set the status before. */
void task_update(struct task *task, const json_t *answers)
{
    AUTO_JSON json_t *found = NULL;
    const char *key;
    json_t *answer;

    if (task->status != TASK_INPUT_REQUIRED)
        return;
    found = find_answers(task, answers);
    if (json_object_size(found) == json_object_size(task->job->rounds.asked))
        task_set_status(task, TASK_WORKING);
    json_object_foreach (found, key, answer)
        job_answer(task->job, key, answer);
}

void task_take_answer(struct task *task, unsigned number, json_t *result, const struct error *err)
{
    if (task->status != TASK_INPUT_REQUIRED)
        return;
    if (!err && json_object_size(task->job->rounds.asked) == 1)
        task_set_status(task, TASK_WORKING);
    job_take_answer(task->job, number, result, err);
}

/* The end */

/* Answers a request for the result of TASK, which is over. */
static enum outcome answer_waiter(const struct task *task, struct mcp_request *request,
                                  json_t **ret, struct error *err)
{
    if (task->result) {
        *ret = json_copy(task->result);
        result_add_meta(*ret, task_view_related(task));
        return OUTCOME_READY;
    }
    if (!task->failure)
        return error_set(err, ERROR_UNAVAILABLE, "the task was cancelled");
    error_copy(err, task->failure);
    request->error_data = json_incref(task->failure_data);
    return OUTCOME_FAILED;
}

static void stop_waiting(struct mcp_request *request)
{
    list_remove(&request->waiting);
    request->task = NULL;
}

static void answer_waiters(struct task *task)
{
    while (!list_is_empty(&task->waiters)) {
        struct mcp_request *request = CONTAINER_OF(task->waiters.next, struct mcp_request, waiting);
        struct error err = ERROR_INIT;
        json_t *result = NULL;
        enum outcome outcome = answer_waiter(task, request, &result, &err);

        stop_waiting(request);
        request->done(request, result, outcome == OUTCOME_FAILED ? &err : NULL);
    }
}

static void task_end(struct task *task, enum task_status status)
{
    job_free(STEAL_PTR(task->job));
    task->progress = (struct progress){0};
    task_set_status(task, status);
    answer_waiters(task);
}

/* A result with isError is a failure in 2025-11-25 only. */
static enum task_status task_status_of(const struct task *task)
{
    bool is_error = json_is_true(json_object_get(task->result, "isError"));

    if (task->failure)
        return TASK_FAILED;
    return is_error && !mcp_version_is_modern(task->version) ? TASK_FAILED : TASK_COMPLETED;
}

static void task_on_done(struct job_keeper *keeper, json_t *result, const struct error *err)
{
    struct task *task = task_of(keeper);

    task->result = result;
    if (err) {
        task->failure = NEW(struct error);
        error_copy(task->failure, err);
        task->failure_data = STEAL_PTR(task->job->error_data);
        set_message(task, err->message);
    }
    task->bytes = result ? json_dumpb(result, NULL, 0, JSON_COMPACT) : 0;
    task_end(task, task_status_of(task));
}

void task_settle(struct task *task, enum outcome outcome, json_t *result, const struct error *err)
{
    if (outcome != OUTCOME_PENDING)
        task_on_done(&task->keeper, result, outcome == OUTCOME_FAILED ? err : NULL);
}

void task_cancel(struct task *task)
{
    if (task_is_over(task))
        return;
    job_cancel(task->job);
    task_end(task, TASK_CANCELLED);
}

/* Waiting */

/* Questions that were sent on the stream of REQUEST are sent again on the stream of the next
 * waiting request. */
static void task_cancel_waiting(struct mcp_request *request)
{
    struct task *task = request->task;
    bool is_asked = task->job->rounds.inquiry.request == request;

    if (is_asked)
        rounds_stop(task->job);
    stop_waiting(request);
    if (is_asked)
        task_ask(task);
}

enum outcome task_wait(struct task *task, struct mcp_request *request, json_t **ret,
                       struct error *err)
{
    if (task_is_over(task))
        return answer_waiter(task, request, ret, err);
    request->task = task;
    request->cancel = task_cancel_waiting;
    list_append(&task->waiters, &request->waiting);
    if (task->status == TASK_INPUT_REQUIRED && !task->job->rounds.inquiry.request)
        task_ask(task);
    return OUTCOME_PENDING;
}

/* The task itself */

struct task *task_new(struct task_store *store, const char *replica, unsigned long number,
                      double ttl)
{
    struct task *task = NEW(struct task);

    task->store = store;
    task->id = handle_new(replica, ID_DIGITS);
    task->number = number;
    task->keeper = (struct job_keeper){
        .progress = task_on_progress,
        .log = task_on_log,
        .ask = task_on_ask,
        .done = task_on_done,
    };
    clock_gettime(CLOCK_REALTIME, &task->created);
    task->updated = task->created;
    task->began = clock_seconds();
    task->ttl = ttl;
    task->ttl_at_first = ttl;
    list_init(&task->link);
    list_init(&task->waiters);
    return task;
}

void task_take(struct task *task, struct job *job)
{
    task->job = job;
    task->version = job->version;
    task->principal =
        principal_open(job->server->principals, job->invocation.caller->principal->name);
    task->message = STEAL_PTR(job->message);
    task->progress = job->request->progress;
    job_leave(job, &task->keeper);
}

void task_free(struct task *task)
{
    task_cancel(task);
    list_remove(&task->link);
    principal_close(task->principal);
    json_decref(task->result);
    json_decref(task->failure_data);
    free(task->failure);
    free(task->message);
    free(task->id);
    free(task);
}
