/* A session: a Python that is kept, and executes its cells in order, in one namespace.
 *
 * It is held as a run of its environment would be, by the same layers and limits. It takes no place
 * among the runs of the executor: the number of sessions has a limit of its own (notebooks.h).
 * Output while a cell is at work belongs to this cell; later output belongs to the next cell.
 *
 * The server believes only one message of its socket, that a cell has ended: a session that lies
 * harms itself only. */
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

/* A request for a session. Borrowed until notebooks_open returns. */
struct notebook_request {
    struct environment *environment; /* prepared or not; is held */
    struct working_directory *directory;
    enum isolation isolation;     /* environment_isolation() when DIRECTORY was opened */
    const char *owner;            /* the principal that it belongs to */
    const char *const *variables; /* NULL-terminated NAME=VALUE, or NULL */
    struct script_tools *tools;   /* that its cells may call; taken on success; or NULL */
    const char *picture_helper;   /* as in a run; outlives the session */
};

/* A cell to execute. CODE is copied, and a reference to FILES kept. */
struct cell_request {
    const char *code;
    size_t code_length;
    double timeout;   /* seconds, from when the code is sent */
    json_t *files;    /* as in a run */
    json_t *imports;  /* as in a run: the imports of the code, or NULL; a reference is kept */
    json_t *packages; /* requirements to install for the session first, an array; a reference is
                         kept; NULL: there are none */
    struct recurrence *recurrence; /* as in a run, for the cell that starts the Python; borrowed
                                      until then, or until it is cancelled */
    struct script_sender *sender;  /* as in a run */
    void *data;                    /* borrowed */

    /* As in a run; or NULL. */
    void (*progress)(void *data, const struct preparation_step *step);

    /* The environment that makes the virtual environment at VENV with PACKAGES, all of the session
     * (catalog_extend_session); its holder releases it. NULL with ERR.
     * Only called if there are `packages`. */
    struct environment *(*extend)(void *data, const char *venv, const json_t *packages,
                                  struct error *err);

    /* The end; called once, unless the cell is cancelled, and never from inside notebook_submit. */
    void (*done)(void *data, const struct run_report *report);
};

/* Adds a cell to the queue of NOTEBOOK. Borrowed until its end. */
struct cell *notebook_submit(struct notebook *notebook, const struct cell_request *request);

/* Ends the callbacks of CELL. If it is at work, it is interrupted and the variables stay; if it
 * ignores the interrupt, its session ends. */
void cell_cancel(struct cell *cell);

/* The present activity of CELL, and the newest line that it has printed, like those for a run. */
const char *cell_activity(const struct cell *cell);
char *cell_last_line(const struct cell *cell);

/* The output so far, as of a run; NULL while CELL waits for others. */
const struct capture *cell_streams(const struct cell *cell);

/* The name of a session, its environment and its directory. Borrowed. */
const char *notebook_handle(const struct notebook *notebook);
struct environment *notebook_environment(const struct notebook *notebook);
struct working_directory *notebook_directory(const struct notebook *notebook);

/* environment_isolation() when it was opened. */
enum isolation notebook_isolation(const struct notebook *notebook);

/* When it was opened. */
time_t notebook_begun(const struct notebook *notebook);

/* The number of cells that it has executed, and whether a cell is at work or waits. */
unsigned long notebook_cells(const struct notebook *notebook);
bool notebook_is_busy(const struct notebook *notebook);
