/* The tasks that there are: each is here from its beginning until its time to live is over. */
#pragma once

#include "base/error.h"
#include "base/list.h"
#include "server/mcp/task.h"

#include <ev.h>

enum {
    TASK_STORE_TASKS = 1024,              /* most in all */
    TASK_STORE_PER_PRINCIPAL = 256,       /* most of one principal */
    TASK_STORE_AT_WORK = 64,              /* most of them that are not over */
    TASK_STORE_BYTES = 128 * 1024 * 1024, /* of results; no task begins beyond that */
    TASK_STORE_BYTES_PER_PRINCIPAL = TASK_STORE_BYTES / 4, /* of one principal's results */
};

#define TASK_STORE_TTL          900.0   /* seconds, where the client says nothing */
#define TASK_STORE_TTL_SHORTEST 1.0     /* that a client can ask for */
#define TASK_STORE_TTL_LONGEST  86400.0 /* that a client can ask for */

struct task_store;

/* A watcher of changes; embedded, and in the store until task_store_unwatch. */
struct task_watcher {
    struct list link;

    /* TASK has another status than before. */
    void (*changed)(struct task_watcher *watcher, const struct task *task);
};

struct task_store *task_store_new(struct ev_loop *loop);

/* Cancels the tasks that work. */
void task_store_stop(struct task_store *store);

/* All requests are gone. Harmless for NULL. */
void task_store_free(struct task_store *store);

/* Whether PRINCIPAL may have another task now; -1 with ERROR_BUSY. */
int task_store_admit(const struct task_store *store, const struct principal *principal,
                     struct error *err);

/* A task, with JOB (taken), which leaves its request. It is there for TTL seconds; while it works
 * its time is extended, so that half of TTL is always left. Borrowed until the loop goes on. */
struct task *task_store_add(struct task_store *store, struct job *job, double ttl);

/* The task ID of the sender of REQUEST, or NULL. Borrowed until the loop goes on. */
struct task *task_store_find(const struct task_store *store, const struct mcp_request *request,
                             const char *id);

/* The first task of the sender of REQUEST whose number is higher than NUMBER, or NULL. */
struct task *task_store_next(const struct task_store *store, const struct mcp_request *request,
                             unsigned long number);

/* PEER goes away: its tasks notify nobody any more. */
void task_store_forget(struct task_store *store, const struct mcp_peer *peer);

void task_store_watch(struct task_store *store, struct task_watcher *watcher);
void task_store_unwatch(struct task_watcher *watcher);

/* For tasks: tells the watchers of TASK. */
void task_store_tell(const struct task_store *store, const struct task *task);
