/* Shows people the steps of preparations, on stderr: on a terminal one line for each that is under
 * way, redrawn in place, elsewhere one line for each step.
 *
 *     science  installing numpy                  [######--------------]   31 %  12.4 s
 *
 * The lines stand below whatever else is written: the cursor rests at their start, and who writes
 * takes them away first (step_display_hide; the log does so by itself). They come again soon. */
#pragma once

#include "base/list.h"
#include "environments/environment.h"
#include "server/commands/terminal.h"

#include <ev.h>
#include <stdbool.h>

/* One preparation; embedded in what waits for it. */
struct step_line {
    struct list link;
    const char *name;             /* borrowed: of the environment */
    struct preparation_step step; /* the newest */
    double started;               /* monotonic seconds */
};

struct step_display {
    struct ev_loop *loop; /* borrowed */
    struct terminal terminal;
    struct list lines; /* of struct step_line: borrowed, in the order they came */
    bool is_drawn;
    ev_timer timer; /* draws; running while there are lines and the terminal can be drawn on */
};

/* One at a time: it is the one that the log hides. */
void step_display_init(struct step_display *display, struct ev_loop *loop);
void step_display_deinit(struct step_display *display);

/* NAME is borrowed. The line is not shown yet. */
void step_line_init(struct step_line *line, const char *name);

/* LINE is shown until it is removed. */
void step_display_add(struct step_display *display, struct step_line *line);
void step_display_remove(struct step_display *display, struct step_line *line);

void step_display_update(struct step_display *display, struct step_line *line,
                         const struct preparation_step *step);

/* For the progress of a run: shows LINE from the first STEP to the one that is NULL, to people who
 * look on. Who reads stderr for what the script prints gets nothing else. */
void step_display_follow(struct step_display *display, struct step_line *line,
                         const struct preparation_step *step);

/* Takes the lines away until they are drawn the next time. */
void step_display_hide(struct step_display *display);
