/* Progress messages of a call that waits or runs: each step of a preparation at once, unless there
 * are very many; the newest line of output once a second; after a silence, a sign of life. */
#pragma once

#include <ev.h>

struct cell;
struct invocation;
struct preparation_step;
struct run;

struct python_progress {
    struct invocation *invocation; /* borrowed */
    struct ev_loop *loop;          /* borrowed */
    const struct run *run;         /* borrowed; or NULL, and instead ... */
    const struct cell *cell;       /* ... borrowed */
    struct ev_timer timer;         /* looks for news */
    double told;                   /* when the last progress was sent */
    double allowance; /* steps that could be sent at once when the last progress was sent */
    char *step;       /* newest step of the preparation, or NULL; owned */
    char *last_line;  /* the line or step that was sent last, or NULL; owned */
};

void python_progress_init(struct python_progress *progress, struct invocation *invocation,
                          struct ev_loop *loop);

/* Starts to report on RUN or on CELL (borrowed, the other one NULL), unless the client wants no
 * progress. */
void python_progress_start(struct python_progress *progress, const struct run *run,
                           const struct cell *cell);

/* Reports STEP of the preparation; NULL: the preparation is over. */
void python_progress_step(struct python_progress *progress, const struct preparation_step *step);

void python_progress_deinit(struct python_progress *progress);
