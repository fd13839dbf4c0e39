/* A session: a Python that is kept, and executes one cell after the other in one namespace.
 *
 * It is held as a run of its environment would be, by the same layers and limits. It takes no place
 * among the runs of the executor: how many there may be is bounded on its own (notebooks.h). What
 * it prints while a cell is at work belongs to that cell; what comes later belongs to the next one.
 *
 * What it says over its socket is not believed, except that a cell has ended: one that lies harms
 * itself only. */
#pragma once

#include "base/error.h"
#include "environments/executor.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

struct cell;
struct environment;
struct notebook;
struct preparation_step;
struct recurrence;
struct working_directory;

/* What a session is made from. Borrowed until notebooks_open returns. */
struct notebook_request {
    struct environment *environment; /* prepared or not; is held */
    struct working_directory *directory;
    enum isolation isolation;     /* environment_isolation() when DIRECTORY was opened */
    const char *owner;            /* whose it is */
    const char *const *variables; /* NULL-terminated NAME=VALUE, or NULL */
    const char *picture_helper;   /* as in a run; outlives the session */
};

/* What to execute in one. CODE is copied, and a reference of FILES kept. */
struct cell_request {
    const char *code;
    size_t code_length;
    double timeout;  /* seconds, from when the code is sent */
    json_t *files;   /* as in a run */
    json_t *imports; /* likewise: what the code imports, or NULL; a reference is kept */
    struct recurrence *recurrence; /* likewise, of the cell that starts the Python; borrowed until
                                      then, or until it is cancelled */
    void *data;                    /* borrowed */

    /* As in a run; or NULL. */
    void (*progress)(void *data, const struct preparation_step *step);

    /* The end; called once, unless the cell is cancelled, and never from inside notebook_submit. */
    void (*done)(void *data, const struct run_report *report);
};

/* Adds a cell to those of NOTEBOOK, which executes them in this order. Borrowed until its end. */
struct cell *notebook_submit(struct notebook *notebook, const struct cell_request *request);

/* Forgets who wants to know of CELL. One that is at work is interrupted, and the variables stay; if
 * it takes no notice, its session ends. */
void cell_cancel(struct cell *cell);

/* What CELL does now, and the newest line that it has printed, as of a run. */
const char *cell_activity(const struct cell *cell);
char *cell_last_line(const struct cell *cell);

/* Whose it is, what it is called, and where it is. Borrowed. */
const char *notebook_handle(const struct notebook *notebook);
struct environment *notebook_environment(const struct notebook *notebook);
struct working_directory *notebook_directory(const struct notebook *notebook);

/* When it was opened. */
time_t notebook_begun(const struct notebook *notebook);

/* How many cells it has executed, and whether one is at work or waits. */
unsigned long notebook_cells(const struct notebook *notebook);
bool notebook_is_busy(const struct notebook *notebook);
