/* What the client of a call is told while its Python waits or runs: each step of a preparation at
 * once, unless there are very many; then the newest line of output once a second; and after a
 * silence at least that the call is alive. */
#pragma once

#include <ev.h>

struct invocation;
struct preparation_step;
struct run;

struct python_progress {
    struct invocation *invocation; /* borrowed */
    struct ev_loop *loop;          /* borrowed */
    const struct run *run;         /* borrowed; NULL before python_progress_start */
    struct ev_timer timer;         /* looks for something to tell */
    double started;
    double told;      /* when the last progress was sent */
    double sent;      /* the last progress itself: it must rise */
    double allowance; /* how many steps may be told at once, when the last progress was sent */
    char *step;       /* of the preparation that the run waits for, or NULL; owned */
    char *last_line;  /* the output line or step that was told last, or NULL; owned */
};

void python_progress_init(struct python_progress *progress, struct invocation *invocation,
                          struct ev_loop *loop);

/* RUN (borrowed) is what the call waits for. Nothing happens when the client wants no progress. */
void python_progress_start(struct python_progress *progress, const struct run *run);

/* The preparation does STEP now; NULL: it is over. */
void python_progress_step(struct python_progress *progress, const struct preparation_step *step);

void python_progress_deinit(struct python_progress *progress);
