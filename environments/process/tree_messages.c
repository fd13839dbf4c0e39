/* Handles the messages of a tree's runner and supervisor. */
#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/process/python_stacks.h"
#include "environments/process/tree_private.h"

#include <stdio.h>
#include <string.h>

/* Messages of a doubted tree count only for its own end: about the machine, and other processes,
 * they could lie. */
static bool tree_is_doubted(const struct tree *tree)
{
    return tree->role && tree->role->is_doubted;
}

static void tree_on_supervisor_known(struct tree *tree, const char *payload, size_t length)
{
    struct control_supervisor supervisor;

    if (length != sizeof supervisor || tree->supervisor >= 0)
        return;
    memcpy(&supervisor, payload, sizeof supervisor);
    tree->supervisor_pid = tree_is_doubted(tree) ? tree->channel.sender : supervisor.pid;
    tree->supervisor = spawn_open_child(tree->supervisor_pid);
    if (tree->supervisor < 0) {
        tree_lose_sight(tree);
        return;
    }
    ev_io_set(&tree->supervisor_watcher, tree->supervisor, EV_READ);
    ev_io_start(host_loop(tree->host), &tree->supervisor_watcher);
    if (supervisor.zygote && tree->role)
        tree->role->zygote(tree, supervisor.zygote);
    if (tree->state >= TREE_EMPTYING)
        tree_kill_hard(tree); /* the end began without the supervisor, which has no program yet */
}

static void tree_on_ready(struct tree *tree, const char *missing)
{
    if (tree->state != TREE_PREPARING)
        return;
    if (*missing && !tree_is_doubted(tree))
        process_receipt_add_missing(tree->missing, missing);
    host_note_ready(tree->host, tree);
    tree->is_prepared = true;
    tree_become_ready(tree);
}

static bool tree_may_be_replaced(const struct tree *tree)
{
    return tree->state < TREE_RUNNING || (tree->state == TREE_RUNNING && tree->started <= 0);
}

static void tree_refused(struct tree *tree, const struct control_refused *refused, const char *text)
{
    struct error err = ERROR_INIT;

    if (tree_may_be_replaced(tree) && !tree_is_doubted(tree) &&
        host_learn(tree->host, tree, (enum control_need)refused->need, refused->number, text))
        host_retry(tree->host, tree);
    tree->end.refused = tree->started <= 0;
    tree_fail(tree, host_refuses(tree->host, &tree->wish, &err) ? err.message : text);
}

static void tree_on_refused(struct tree *tree, const char *payload, size_t length)
{
    struct control_refused refused;
    AUTO_FREE char *text = NULL;

    if (length < sizeof refused)
        return;
    memcpy(&refused, payload, sizeof refused);
    if (refused.need >= NEEDS)
        return;
    text = memory_format("%.*s", (int)(length - sizeof refused), payload + sizeof refused);
    tree_refused(tree, &refused, text);
}

static void tree_on_started(struct tree *tree, const char *payload, size_t length)
{
    struct control_started started;

    if (length != sizeof started)
        return;
    memcpy(&started, payload, sizeof started);
    tree->started = started.time;
    tree_drop_job(tree);
    host_note_started(tree->host, tree);
    tree->end.start_seconds = started.time - tree->submitted;
}

static void tree_on_ended(struct tree *tree, const char *payload, size_t length)
{
    struct control_ended ended;

    if (length != sizeof ended)
        return;
    memcpy(&ended, payload, sizeof ended);
    tree->end.reported = true;
    tree->is_empty = ended.is_empty;
    tree->end.returncode = process_returncode(ended.status);
    tree->end.cpu_seconds = ended.cpu_seconds;
    tree->end.peak_memory = ended.peak_bytes;
    tree->end.out_of_disk = ended.exceeded == CONTROL_EXCEEDED_DISK;
    tree->end.leftovers = ended.leftovers;
    tree->end.out_of_memory = ended.exceeded == CONTROL_EXCEEDED_MEMORY;
    if (tree->started > 0)
        tree->end.run_seconds = ended.time - tree->started;
    tree_begin_end(tree);
}

/* Keeps the stacks of the first interrupt. */
static void tree_on_stacks(struct tree *tree, const char *text, size_t length)
{
    if (!tree->end.stacks)
        tree->end.stacks = python_stacks_read(text, length);
}

void tree_on_message(struct channel *channel, enum control_type type, const char *payload,
                     size_t length)
{
    struct tree *tree = CONTAINER_OF(channel, struct tree, channel);
    AUTO_FREE char *text = memory_format("%.*s", (int)length, payload);

    switch (type) {
    case CONTROL_RUN:
    case CONTROL_CODE:
    case CONTROL_COPY:
    case CONTROL_INTERRUPT:
        break; /* only we send these */
    case CONTROL_SUPERVISOR:
        tree_on_supervisor_known(tree, payload, length);
        break;
    case CONTROL_READY:
        tree_on_ready(tree, text);
        break;
    case CONTROL_REFUSED:
        tree_on_refused(tree, payload, length);
        break;
    case CONTROL_FAILED:
        tree_fail(tree, text);
        break;
    case CONTROL_WAITING:
        tree_on_waiting(tree);
        break;
    case CONTROL_STACKS:
        tree_on_stacks(tree, payload, length);
        break;
    case CONTROL_STARTED:
        tree_on_started(tree, payload, length);
        break;
    case CONTROL_ENDED:
        tree_on_ended(tree, payload, length);
        break;
    }
}
