#include "environments/turn.h"

#include "base/clock.h"
#include "base/state.h"
#include "environments/environment.h"
#include "environments/workplace/working_directory.h"

#include <math.h>
#include <stdio.h>

#define TURN_PATIENCE_SECONDS 600. /* with people who are asked, all together */
#define TURN_LEAST_SECONDS    0.001
#define TURN_LATE_SECONDS     0.1 /* that the loop may be late, all news read */
#define TURN_LATEST_SECONDS   1.

/* While code waits for tools, its deadline waits, too. */
static const struct state turn_states[] = {
    [TURN_RESTING] = {"resting", 1 << TURN_LOOKING | 1 << TURN_RESTING},
    [TURN_LOOKING] = {"looking", 1 << TURN_WORKING | 1 << TURN_RESTING},
    [TURN_WORKING] = {"running", 1 << TURN_INTERRUPTED | 1 << TURN_STOPPING | 1 << TURN_LISTING |
                                     1 << TURN_RESTING},
    [TURN_INTERRUPTED] = {"interrupted",
                          1 << TURN_STOPPING | 1 << TURN_LISTING | 1 << TURN_RESTING},
    [TURN_STOPPING] = {"stopping", 1 << TURN_LISTING | 1 << TURN_RESTING},
    [TURN_LISTING] = {"listing files", 1 << TURN_SHOWING | 1 << TURN_RESTING},
    [TURN_SHOWING] = {"reading pictures", 1 << TURN_RESTING},
};

static void turn_set_deadline(struct turn *turn, double seconds)
{
    ev_timer_stop(turn->loop, &turn->deadline);
    turn->due = clock_seconds() + fmax(seconds, 0.);
    ev_timer_set(&turn->deadline, seconds > 0 ? seconds : 0., 0.);
    ev_timer_start(turn->loop, &turn->deadline);
}

double turn_longest(const struct turn *turn, double seconds)
{
    return turn->tools ? turn->environment->settings.max_timeout + TURN_PATIENCE_SECONDS : seconds;
}

void turn_start_deadline(struct turn *turn, double seconds)
{
    ev_now_update(turn->loop);
    turn_set_deadline(turn, seconds);
    turn->left = 0;
    turn->asked = 0;
    turn->patience = TURN_PATIENCE_SECONDS;
    turn->is_latest = false;
    turn->latest = ev_now(turn->loop) + turn->environment->settings.max_timeout;
}

/* The deadline stands still while the code waits for tools, but not beyond `latest`; while a person
 * is asked that stands still, too, as long as there is patience: other threads may be at work. */
static void turn_hold_deadline(struct turn *turn, enum script_wait wait)
{
    const double patience = wait == SCRIPT_WAITS_FOR_A_PERSON ? turn->patience : 0;

    if (turn->left <= 0) /* it is held also if it passed while the loop was busy */
        turn->left = fmax(ev_timer_remaining(turn->loop, &turn->deadline), TURN_LEAST_SECONDS);
    turn->is_latest = true;
    turn_set_deadline(turn, turn->latest + patience - ev_now(turn->loop));
}

/* A person was asked until now. */
static void turn_put_off_latest(struct turn *turn)
{
    const double seconds = fmin(ev_now(turn->loop) - turn->asked, turn->patience);

    turn->latest += seconds;
    turn->patience -= seconds;
}

static void turn_go_on_with_deadline(struct turn *turn)
{
    const double most = turn->latest - ev_now(turn->loop);

    if (turn->left <= 0)
        return;
    turn_set_deadline(turn, turn->left < most ? turn->left : most);
    turn->is_latest = turn->left >= most;
    turn->left = 0;
}

static void turn_on_waits(void *data, enum script_wait wait)
{
    struct turn *turn = data;

    turn->wait = wait;
    if (turn->state != TURN_WORKING || (!ev_is_active(&turn->deadline) && turn->left <= 0))
        return;
    ev_now_update(turn->loop);
    if (turn->asked > 0)
        turn_put_off_latest(turn);
    turn->asked = wait == SCRIPT_WAITS_FOR_A_PERSON ? ev_now(turn->loop) : 0;
    if (wait == SCRIPT_WAITS_FOR_NOTHING)
        turn_go_on_with_deadline(turn);
    else
        turn_hold_deadline(turn, wait);
}

void turn_begin_deadline(struct turn *turn, double seconds)
{
    turn_start_deadline(turn, seconds);
    if (turn->wait != SCRIPT_WAITS_FOR_NOTHING)
        turn_on_waits(turn, turn->wait);
}

void turn_end_deadline(struct turn *turn)
{
    if (turn_is_working(turn))
        ev_timer_stop(turn->loop, &turn->deadline);
}

static void turn_begin_tools(struct turn *turn)
{
    if (!turn->tools)
        return;
    turn->tools->waits = turn_on_waits;
    turn->tools->data = turn;
    turn->tools->ops->begin(turn->tools, turn->sender);
}

static void turn_interrupt_tools(struct turn *turn)
{
    if (turn->tools)
        turn->tools->ops->interrupt(turn->tools);
}

/* Once for each turn: the account of an end that comes later has no calls. */
static void turn_end_tools(struct turn *turn)
{
    json_t *account = turn->tools ? turn->tools->ops->end(turn->tools) : NULL;

    if (!account)
        return;
    json_decref(turn->tool_account);
    turn->tool_account = account;
}

static void turn_set_state(struct turn *turn, enum turn_state state)
{
    state_change(turn_states, turn->state, state, "%s", turn->name);
    turn->state = state;
    turn->is_put_off = false;
    ev_timer_stop(turn->loop, &turn->deadline);
    if (state == TURN_WORKING)
        turn_begin_tools(turn);
    if (state == TURN_INTERRUPTED)
        turn_set_deadline(turn, turn->grace_seconds);
    else if (state != TURN_WORKING)
        turn_end_tools(turn);
}

/* If the loop was held up (by a stopped server, or a machine that sleeps), the deadline can come
 * before the news that the code has ended in time. If it has not, it gets what was lost, once. */
static bool turn_puts_deadline_off(struct turn *turn)
{
    const double late = clock_seconds() - turn->due;

    if (late < TURN_LATE_SECONDS || turn->is_put_off)
        return false;
    turn->is_put_off = true;
    ev_now_update(turn->loop);
    turn_set_deadline(turn, fmin(late, TURN_LATEST_SECONDS));
    return true;
}

static void turn_on_deadline(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct turn *turn = CONTAINER_OF(timer, struct turn, deadline);

    (void)loop;
    (void)events;
    if (!turn_puts_deadline_off(turn))
        turn->ops->expired(turn);
}

static void turn_on_pictures(struct gallery *gallery)
{
    struct turn *turn = CONTAINER_OF(gallery, struct turn, gallery);

    turn->ops->shown(turn);
}

static void turn_on_looked(struct directory_look *look)
{
    struct turn *turn = CONTAINER_OF(look, struct turn, look);

    if (turn->state == TURN_LOOKING)
        turn->ops->looked(turn);
    else
        turn->ops->listed(turn);
}

static void turn_init_parts(struct turn *turn, const char *picture_helper)
{
    turn->changes.are_complete = true;
    directory_look_init(&turn->look, turn->loop, turn_on_looked);
    ev_timer_init(&turn->deadline, turn_on_deadline, 0., 0.);
    turn->growth.loop = turn->loop;
    turn->growth.limit = turn->environment->settings.disk;
    turn->gallery = (struct gallery){
        .loop = turn->loop,
        .host = turn->environment->host,
        .helper = picture_helper,
        .done = turn_on_pictures,
    };
    for (int i = 0; i < PROCESS_STREAMS; i++)
        capture_init(&turn->streams[i], turn->environment->settings.output);
}

void turn_init(struct turn *turn, const struct turn_settings *settings)
{
    *turn = (struct turn){
        .ops = settings->ops,
        .loop = settings->loop,
        .environment = settings->environment,
        .directory = settings->directory,
        .tools = settings->tools,
        .grace_seconds = settings->grace_seconds,
    };
    snprintf(turn->name, sizeof turn->name, "%s", settings->name);
    turn_init_parts(turn, settings->picture_helper);
}

void turn_deinit(struct turn *turn)
{
    script_tools_free(turn->tools);
    json_decref(turn->tool_account);
    ev_timer_stop(turn->loop, &turn->deadline);
    directory_look_deinit(&turn->look);
    directory_watch_end(&turn->growth);
    gallery_deinit(&turn->gallery);
    json_decref(turn->changes.files);
    json_decref((json_t *)turn->execution_end.receipt.missing);
    json_decref((json_t *)turn->execution_end.receipt.devices);
    json_decref((json_t *)turn->execution_end.receipt.node);
    json_decref(turn->execution_end.stacks);
    json_decref(turn->execution_end.left_files);
    for (int i = 0; i < PROCESS_STREAMS; i++)
        capture_deinit(&turn->streams[i]);
}

void turn_renew(struct turn *turn)
{
    for (int i = 0; i < PROCESS_STREAMS; i++) {
        capture_deinit(&turn->streams[i]);
        capture_init(&turn->streams[i], turn->environment->settings.output);
    }
    json_decref(turn->tool_account);
    turn->tool_account = NULL;
    json_decref(turn->changes.files);
    turn->changes = (struct directory_changes){.are_complete = true};
    gallery_cancel(&turn->gallery);
    json_decref(turn->gallery.pictures);
    turn->gallery.pictures = NULL;
    turn->end = RUN_ENDED;
}

void turn_look(struct turn *turn)
{
    turn_set_state(turn, TURN_LOOKING);
    if (directory_look_start(&turn->look, turn->directory) == OUTCOME_READY)
        turn->ops->looked(turn);
}

void turn_work(struct turn *turn, double seconds)
{
    turn_set_state(turn, TURN_WORKING);
    if (seconds > 0)
        turn_begin_deadline(turn, seconds);
}

bool turn_is_working(const struct turn *turn)
{
    return turn->state == TURN_WORKING || turn->state == TURN_INTERRUPTED;
}

void turn_take_output(struct turn *turn, enum process_stream stream, const char *data,
                      size_t length)
{
    turn->newest = stream;
    capture_append(&turn->streams[stream], data, length);
}

char *turn_last_line(const struct turn *turn)
{
    enum process_stream other = turn->newest == PROCESS_STDOUT ? PROCESS_STDERR : PROCESS_STDOUT;

    return capture_newest_line(&turn->streams[turn->newest], &turn->streams[other]);
}

/* The code may ignore it, or make the most of the time that it gets. */
void turn_interrupt(struct turn *turn)
{
    turn->end = RUN_TIMED_OUT;
    ev_now_update(turn->loop);
    turn_set_state(turn, TURN_INTERRUPTED);
    turn_interrupt_tools(turn);
    turn->execution->interrupt(turn->execution);
}

void turn_orphan(struct turn *turn)
{
    turn->sender = NULL;
    turn_interrupt_tools(turn);
}

void turn_stop(struct turn *turn, enum run_end end)
{
    turn->end = end;
    turn_set_state(turn, TURN_STOPPING);
    turn->execution->kill(turn->execution);
}

void turn_expire(struct turn *turn)
{
    if (turn->state == TURN_WORKING)
        turn_interrupt(turn);
    else
        turn_stop(turn, RUN_TIMED_OUT);
}

void turn_note_end(struct turn *turn, const struct process_end *end)
{
    turn->execution = NULL;
    turn->execution_end = *end;
    json_incref((json_t *)end->receipt.missing);
    json_incref((json_t *)end->receipt.devices);
    json_incref((json_t *)end->receipt.node);
    json_incref(end->stacks);
    json_incref(end->left_files);
}

void turn_end_work(struct turn *turn)
{
    turn_set_state(turn, TURN_LISTING);
}

void turn_list(struct turn *turn)
{
    if (directory_look_start(&turn->look, turn->directory) == OUTCOME_READY)
        turn->ops->listed(turn);
}

static bool turn_has_pictures(const struct turn *turn, bool was_right)
{
    return turn->gallery.helper && turn->changes.files && turn->end == RUN_ENDED && was_right;
}

void turn_show(struct turn *turn, bool was_right)
{
    turn->changes = directory_look_changes(&turn->look);
    if (turn_has_pictures(turn, was_right) &&
        gallery_start(&turn->gallery, working_directory_fd(turn->directory), turn->changes.files) ==
            OUTCOME_PENDING)
        turn_set_state(turn, TURN_SHOWING);
    else
        turn->ops->shown(turn);
}

void turn_leave(struct turn *turn)
{
    directory_look_cancel(&turn->look);
    gallery_cancel(&turn->gallery);
    turn_set_state(turn, TURN_RESTING);
}

const char *turn_activity(const struct turn *turn)
{
    return turn_states[turn->state].name;
}
