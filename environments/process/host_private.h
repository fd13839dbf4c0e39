/* Functions of the host for its trees. Private to this layer. */
#pragma once

#include "environments/process/control.h"
#include "environments/process/forecast.h"
#include "environments/process/machine.h"

#include <ev.h>
#include <stdbool.h>

struct process_host;
struct tree;

struct ev_loop *host_loop(const struct process_host *host);
int host_runner(const struct process_host *host);

/* Adds TREE to the trees of HOST; returns its number. */
unsigned long host_add(struct process_host *host, struct tree *tree);

const struct machine *host_machine(const struct process_host *host);

/* TREE is prepared, with all its layers. */
void host_note_ready(struct process_host *host, const struct tree *tree);

/* TREE's program runs, so its uid and its file rules are in force. */
void host_note_started(struct process_host *host, const struct tree *tree);

/* TREE's runner was refused NEED, with errno NUMBER. True: another tree should be tried, which can
 * fail a few times at most. */
bool host_learn(struct process_host *host, const struct tree *tree, enum control_need need,
                int number, const char *text);

/* TREE's runner was refused: its process, if any, goes to another tree or, if there is none, stays.
 */
void host_retry(struct process_host *host, struct tree *tree);

/* A tree with WISH: a prepared tree, else a new one. NULL with ERR. */
struct tree *host_take(struct process_host *host, const struct tree_wish *wish, struct error *err);

/* The tree in which the program of FORECAST has been started, or NULL. HAS_INPUT: it is to get a
 * standard input as well, which only a copy of a zygote can get. */
struct tree *host_take_ahead(struct process_host *host, struct forecast *forecast, bool has_input);

/* The command of TREE, which does not end soon, is expected to come again beside it. */
void host_expect_again(struct tree *tree);

/* A child of HOST may have died for which nobody waits. */
void host_look_for_orphans(struct process_host *host);

/* The library of zygotes, a descriptor (borrowed); -1: there is none. */
int host_core(const struct process_host *host);

/* From process_host_stop() on. */
bool host_is_stopping(const struct process_host *host);

struct forecasts *host_forecasts(struct process_host *host);

/* How HOST starts programs ahead of their code (host_ahead.c). */
extern const struct forecast_ways host_ahead;

/* True, with ERR, when no process with WISH can be started: more is required than there is. */
bool host_refuses(const struct process_host *host, const struct tree_wish *wish, struct error *err);
