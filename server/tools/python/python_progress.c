#include "server/tools/python/python_progress.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/memory.h"
#include "environments/executor.h"
#include "environments/notebook/notebook.h"
#include "server/tools/invocation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PROGRESS_SECONDS 1.0 /* between two looks at the output */
#define SILENCE_SECONDS  3.5 /* the next look after it sends a sign of life: every 4 seconds */
#define STEPS_PER_SECOND 2.0 /* that may be sent at once */
#define STEPS_IN_A_ROW   6.0 /* that may always be sent at once: most preparations have fewer */

/* How many steps may be sent at once at NOW. */
static double python_progress_allowance(const struct python_progress *progress, double now)
{
    return fmin(progress->allowance + (now - progress->told) * STEPS_PER_SECOND, STEPS_IN_A_ROW);
}

static void python_progress_tell(struct python_progress *progress, const char *what)
{
    struct invocation *invocation = progress->invocation;
    double now = clock_seconds();

    progress->allowance = fmax(python_progress_allowance(progress, now) - 1, 0);
    progress->told = now;
    invocation->progress(invocation, invocation_next_progress(invocation), -1, what);
}

static void python_progress_tell_line(struct python_progress *progress, const char *line)
{
    python_progress_tell(progress, line);
    free(progress->last_line);
    progress->last_line = memory_copy_string(line);
}

static bool python_progress_is_news(const struct python_progress *progress, const char *line)
{
    return !progress->last_line || strcmp(line, progress->last_line) != 0;
}

static const char *python_progress_activity(const struct python_progress *progress)
{
    return progress->run ? run_activity(progress->run) : cell_activity(progress->cell);
}

/* Owned by the caller, or NULL. */
static char *python_progress_last_line(const struct python_progress *progress)
{
    return progress->run ? run_last_line(progress->run) : cell_last_line(progress->cell);
}

/* Sends the newest output line, or else the newest step, if it was not sent yet; after a silence it
 * is sent again. */
static void python_progress_on_timer(struct ev_loop *loop, struct ev_timer *timer, int events)
{
    struct python_progress *progress = CONTAINER_OF(timer, struct python_progress, timer);
    AUTO_FREE char *output = python_progress_last_line(progress);
    const char *line = output ? output : progress->step;

    (void)loop;
    (void)events;
    if (line && python_progress_is_news(progress, line))
        python_progress_tell_line(progress, line);
    else if (clock_seconds() - progress->told >= SILENCE_SECONDS)
        python_progress_tell(progress, line ? line : python_progress_activity(progress));
}

/* "pulling layer 3 of 7 (41 %)". Owned by the caller. */
static char *python_progress_describe(const struct preparation_step *step)
{
    if (step->fraction < 0)
        return memory_copy_string(step->text);
    return memory_format("%s (%.0f %%)", step->text, floor(step->fraction * 100));
}

/* A step that is not sent at once is left to the timer, unless a newer one comes. */
void python_progress_step(struct python_progress *progress, const struct preparation_step *step)
{
    if (!progress->invocation->wants_progress)
        return;
    free(progress->step);
    progress->step = step ? python_progress_describe(step) : NULL;
    if (step && python_progress_is_news(progress, progress->step) &&
        python_progress_allowance(progress, clock_seconds()) >= 1)
        python_progress_tell_line(progress, progress->step);
}

void python_progress_init(struct python_progress *progress, struct invocation *invocation,
                          struct ev_loop *loop)
{
    *progress = (struct python_progress){
        .invocation = invocation,
        .loop = loop,
        .told = clock_seconds(),
        .allowance = STEPS_IN_A_ROW,
    };
    ev_timer_init(&progress->timer, python_progress_on_timer, PROGRESS_SECONDS, PROGRESS_SECONDS);
}

void python_progress_start(struct python_progress *progress, const struct run *run,
                           const struct cell *cell)
{
    progress->run = run;
    progress->cell = cell;
    if (progress->invocation->wants_progress)
        ev_timer_start(progress->loop, &progress->timer);
}

void python_progress_deinit(struct python_progress *progress)
{
    ev_timer_stop(progress->loop, &progress->timer);
    free(progress->step);
    free(progress->last_line);
    progress->step = NULL;
    progress->last_line = NULL;
}
