/* The inside of a session.
 *
 *     RESTING -> PREPARING -> STARTING -> BRINGING -> ACTING -> RESTING
 *
 * In ACTING a cell has its turn (turn.h). STARTING is for the first cell only, or the next one if
 * the first was cancelled, and BRINGING for a Python that has a copy of the directory. The Python
 * may end in any state; then the session executes no cell any more.
 */
#pragma once

#include "base/buffer.h"
#include "base/list.h"
#include "environments/environment.h"
#include "environments/notebook/notebook.h"
#include "environments/notebook/notebooks.h"
#include "environments/turn.h"
#include "environments/workplace/working_directory.h"

#include <ev.h>
#include <stdbool.h>

#define NOTEBOOK_GRACE_SECONDS 2.0 /* for a cell to end after it was told to */

enum notebook_state {
    NOTEBOOK_RESTING,   /* no cell has begun */
    NOTEBOOK_PREPARING, /* waits for its environment */
    NOTEBOOK_STARTING,  /* waits for its Python to begin */
    NOTEBOOK_BRINGING,  /* waits until its Python has the files */
    NOTEBOOK_ACTING,    /* waits for the end of a cell's turn */
};

struct cell {
    struct list link;
    struct notebook *notebook;
    struct cell_request request; /* its code is copied; `done` NULL: it was cancelled */
    char *code;                  /* owned */
    struct error error;          /* why it could not be executed */
    struct error_rest error_rest;
    enum run_end end;
    int status; /* exit status, unless its Python has ended */
    double submitted_at;
    double began_at; /* 0: it never began */
    double prepared_at;
    double sent_at; /* when its code went to its Python */
    double ended_at;
    double cpu_before;             /* seconds that its session had used before it */
    struct process_usage usage;    /* its own */
    struct environment *extension; /* held: it installs the packages of the cell; or NULL */
    char *installed;               /* owned: what was installed, in words; or NULL */
};

/* A virtual environment with the packages that cells have installed for a session, in the annex of
 * its directory (notebook_packages.c). Copies of the session share it, and count as references,
 * until they install more. */
struct notebook_packages {
    unsigned references;
    struct notebook_packages *before;    /* a reference: modules of these may be loaded; or NULL */
    struct working_directory *directory; /* a reference */
    char *name;                          /* owned; in the annex */
    char *venv;                          /* owned; its path there */
    json_t *wanted;                      /* owned: the requirements that it has been asked for */
};

/* The socket to its Python (notebook_link.c). */
struct notebook_link {
    int fd; /* owned; -1: none */
    struct buffer out;
    ev_io reading;
    ev_io writing;

    /* `answered`: a cell has ended with STATUS. `broken`: nonsense has come, or the end. */
    void (*answered)(struct notebook *notebook, int status);
    void (*broken)(struct notebook *notebook);
};

/* The place of a session in a family: a first session, begun with `new`, and all copies of it and
 * of its copies. All links are in no list at first.
 *
 * All are in one PID namespace, and its supervisor belongs to the first session. So all end with
 * the first session, which is not closed for being unused while it has copies. Each counts as a
 * session. */
struct lineage {
    struct lineage *first; /* borrowed; NULL: it is the first itself, or the first has gone */
    struct list copies;    /* in the first: of struct lineage, by `link` */
    struct list link;
};

void lineage_init(struct lineage *lineage);

/* COPY was made from ORIGIN. */
void lineage_join(struct lineage *copy, struct lineage *origin);

/* Takes LINEAGE out of its family. */
void lineage_leave(struct lineage *lineage);

/* True when other sessions end with it. */
bool lineage_carries_others(const struct lineage *lineage);

struct notebook {
    struct list link; /* in the table, which is told of its end */
    char *handle;     /* owned */
    time_t begun_at;
    char *owner; /* owned */
    struct ev_loop *loop;
    struct lineage lineage;
    struct environment *environment;     /* held */
    struct working_directory *directory; /* a reference */
    enum isolation isolation;
    char **variables; /* owned; or NULL */

    enum notebook_state state;
    bool is_over;      /* its Python has ended, or could not be started */
    bool is_copy;      /* it began as a copy */
    bool is_closed;    /* cannot be found any more: it is freed when it has no Python */
    struct list cells; /* of struct cell; the first one is at work unless it is RESTING */
    unsigned long count;
    struct notebook_packages *packages; /* a reference; NULL: none are installed */
    struct notebook_packages *coming;   /* a reference; that its cell installs now, or NULL */
    bool has_annex;                     /* its Python sees what is put there */
    bool knows_packages;                /* its Python knows where they are */
    bool was_interrupted;               /* the last cell; its Python may learn of it late */
    struct environment_waiter waiter;
    struct directory_claim claim;
    struct turn turn;   /* of each cell; its execution is the Python */
    struct error error; /* why it could not be started */
    struct notebook_link channel;
    ev_timer next; /* begins the next cell, or frees it, from the loop */
    ev_timer idle; /* closes it when it is unused */
    double idle_seconds;
};

/* The one function that changes its state (notebook_life.c). */
void notebook_set_state(struct notebook *notebook, enum notebook_state state);

void notebook_start_idle(struct notebook *notebook);

/* A session whose turn has OPS, without callbacks of its own (notebook_life.c). */
struct notebook *notebook_make(const struct notebooks_settings *settings,
                               const struct notebook_request *request, const struct turn_ops *ops);

struct notebook *notebook_new(const struct notebooks_settings *settings,
                              const struct notebook_request *request);

/* NOTEBOOK is closed and has no Python any more. */
void notebook_free(struct notebook *notebook);

/* Kills it, and frees it later. Cells are told of it, unless IS_SILENT. It leaves its table. */
void notebook_close(struct notebook *notebook, bool is_silent);

/* Begins the next cell, or frees a closed session, from the loop. */
void notebook_schedule(struct notebook *notebook);

/* Kills its Python, because of the current cell, or for the reason END. */
void notebook_kill(struct notebook *notebook, enum run_end end);

/* The cell that is at work, or NULL. */
struct cell *notebook_current(const struct notebook *notebook);

/* Begin and end the count of the resources that CELL uses (notebook_end.c). */
void cell_note_usage_before(struct cell *cell);
void cell_note_usage(struct cell *cell);

/* A cell with its own copy of the code (cell.c). */
struct cell *cell_new(struct notebook *notebook, const struct cell_request *request);
void cell_free(struct cell *cell);

/* Reports STEP of the preparation to the caller of the current cell; NULL: it is over. */
void cell_tell_step(struct environment_waiter *waiter, const struct preparation_step *step);

/* Reports the end of CELL to its caller, and frees it (notebook_end.c). */
void cell_finish(struct cell *cell);

/* Starts to install the packages of the current cell, unless they are there. See base/outcome.h;
 * the waiter of NOTEBOOK is told. */
enum outcome notebook_install(struct notebook *notebook, struct error *err);

/* The packages of the current cell are installed. */
void notebook_note_packages(struct notebook *notebook);

/* NOTEBOOK, which has no Python, takes the packages of OTHER, whose Python ends. */
void notebook_take_packages(struct notebook *notebook, struct notebook *other);

/* NOTEBOOK begins with the packages of OTHER, and OTHER keeps them. */
void notebook_share_packages(struct notebook *notebook, const struct notebook *other);

/* Harmless for NULL. The last one removes them. */
void notebook_packages_release(struct notebook_packages *packages);

/* Makes the socket; *RET_THEIRS, owned by the caller, is the end of its Python. */
int notebook_link_open(struct notebook *notebook, int *ret_theirs, struct error *err);
void notebook_link_close(struct notebook *notebook);

/* Orders a copy, with the descriptors (borrowed) that copy.py names. */
enum { NOTEBOOK_GIVEN = 4 };
int notebook_link_order(struct notebook *notebook, const int descriptors[NOTEBOOK_GIVEN],
                        struct error *err);

/* Begins with a copy of ORIGIN's Python. -1 with ERR: ORIGIN has no Python that
 * can be copied now. */
int notebook_begin_as_copy(struct notebook *notebook, struct notebook *origin, struct error *err);

/* Sends the code of CELL. */
void notebook_link_send(struct notebook *notebook, const struct cell *cell);
