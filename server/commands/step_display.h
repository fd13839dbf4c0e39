/* Shows the steps of preparations on stderr: on a terminal one line for each preparation, redrawn
 * in place; elsewhere one line for each step.
 *
 * science  installing numpy                  [######--------------]   31 %  12.4 s
 *
 * The lines stand below all other output, and the cursor rests at their start. Other output hides
 * them first (step_display_hide; the log does so by itself); they are drawn again soon. */
#pragma once

#include "base/list.h"
#include "environments/environment.h"
#include "server/commands/terminal.h"

#include <ev.h>
#include <stdbool.h>

/* One preparation; embedded in the object that waits for it. */
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
    bool is_held;   /* other output stands there in part: nothing is drawn */
    ev_timer timer; /* draws; running while there are lines and the terminal can be drawn on */
};

/* There may be one display at a time: the log hides it. */
void step_display_init(struct step_display *display, struct ev_loop *loop);
void step_display_deinit(struct step_display *display);

/* NAME is borrowed. The line is not shown yet. */
void step_line_init(struct step_line *line, const char *name);

/* LINE is shown until it is removed. */
void step_display_add(struct step_display *display, struct step_line *line);
void step_display_remove(struct step_display *display, struct step_line *line);

void step_display_update(struct step_display *display, struct step_line *line,
                         const struct preparation_step *step);

/* For the progress of a run: shows LINE from the first STEP until STEP is NULL, but only on a
 * terminal: elsewhere stderr carries the output of the script alone. */
void step_display_follow(struct step_display *display, struct step_line *line,
                         const struct preparation_step *step);

/* Hides the lines until the next drawing. */
void step_display_hide(struct step_display *display);
