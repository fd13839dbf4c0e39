#include "environments/workplace/directory_look.h"

#include "base/list.h"
#include "environments/workplace/workplace_private.h"

enum { TURN_OPERATIONS = 100 }; /* half a millisecond, with a directory in each of them */

static void directory_look_on_turn(struct ev_loop *loop, ev_idle *turn, int events)
{
    struct directory_look *look = CONTAINER_OF(turn, struct directory_look, turn);

    (void)events;
    if (directory_listing_step(look->now, TURN_OPERATIONS))
        return;
    ev_idle_stop(loop, turn);
    look->done(look);
}

void directory_look_init(struct directory_look *look, struct ev_loop *loop,
                         void (*done)(struct directory_look *look))
{
    *look = (struct directory_look){.loop = loop, .done = done};
    ev_idle_init(&look->turn, directory_look_on_turn);
    ev_set_priority(&look->turn, EV_MAXPRI); /* others do not keep it from its turn */
}

void directory_look_deinit(struct directory_look *look)
{
    directory_look_cancel(look);
    directory_listing_free(look->now);
    directory_listing_free(look->before);
    look->now = NULL;
    look->before = NULL;
}

enum outcome directory_look_start(struct directory_look *look,
                                  const struct working_directory *directory)
{
    directory_listing_free(look->now);
    look->now = directory_listing_new(directory->fd);
    directory_listing_leave_out(look->now, directory->workplace->outputs, WORKPLACE_OUTPUTS);
    if (!directory_listing_step(look->now, TURN_OPERATIONS)) {
        directory_look_cancel(look);
        return OUTCOME_READY;
    }
    ev_idle_start(look->loop, &look->turn);
    return OUTCOME_PENDING;
}

void directory_look_cancel(struct directory_look *look)
{
    ev_idle_stop(look->loop, &look->turn);
}

void directory_look_note(struct directory_look *look)
{
    directory_listing_free(look->before);
    look->before = look->now;
    look->now = NULL;
}

struct directory_changes directory_look_changes(const struct directory_look *look)
{
    return directory_listing_changes(look->before, look->now);
}
