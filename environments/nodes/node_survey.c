#include "environments/nodes/node_survey.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"

#include <stdlib.h>

#define NODE_SURVEY_SECONDS          2.
#define NODE_SURVEY_PATIENCE_SECONDS 15. /* as much as for its silence */

enum {
    NODE_SURVEY_TRIPS = 20,
    NODE_SURVEY_BYTES = 32 << 20,
};

static struct node_survey *node_survey_of(struct node_stay *stay)
{
    return CONTAINER_OF(stay, struct node_survey, stay);
}

static void node_survey_end(struct node_survey *survey)
{
    ev_timer_stop(survey->loop, &survey->patience);
    node_pool_leave(&survey->stay);
    survey->over(survey);
}

static void node_survey_on_patience(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct node_survey *survey = CONTAINER_OF(timer, struct node_survey, patience);

    (void)loop;
    (void)events;
    survey->fault = memory_format("%s lives, and has not said a word back in 15 seconds",
                                  json_string_value(survey->title));
    node_survey_end(survey);
}

static void node_survey_send_piece(struct node_survey *survey)
{
    static const char piece[NODE_PIECE_BYTES];

    node_stay_send(&survey->stay, NODE_ECHO, piece, sizeof piece);
    survey->sent += sizeof piece;
}

/* As much is under way as of the output of a script. */
static void node_survey_begin_stream(struct node_survey *survey)
{
    survey->began = clock_seconds();
    while (survey->sent < NODE_WINDOW_BYTES)
        node_survey_send_piece(survey);
}

static void node_survey_on_trip(struct node_survey *survey)
{
    if (++survey->trips < NODE_SURVEY_TRIPS) {
        node_stay_send(&survey->stay, NODE_ECHO, NULL, 0);
        return;
    }
    survey->trip_seconds = (clock_seconds() - survey->began) / NODE_SURVEY_TRIPS;
    node_survey_begin_stream(survey);
}

static void node_survey_on_piece(struct node_survey *survey, size_t length)
{
    const double seconds = clock_seconds() - survey->began;

    survey->echoed += length;
    if (survey->echoed < NODE_SURVEY_BYTES && seconds < NODE_SURVEY_SECONDS) {
        node_survey_send_piece(survey);
        return;
    }
    survey->bytes_per_second = (double)survey->echoed / seconds;
    node_survey_end(survey);
}

static void node_survey_on_frame(struct node_stay *stay, enum node_frame type, const char *data,
                                 size_t length)
{
    struct node_survey *survey = node_survey_of(stay);

    (void)data;
    if (type != NODE_ECHO)
        return;
    ev_timer_again(survey->loop, &survey->patience);
    if (survey->trips < NODE_SURVEY_TRIPS)
        node_survey_on_trip(survey);
    else
        node_survey_on_piece(survey, length);
}

static void node_survey_on_granted(struct node_stay *stay)
{
    struct node_survey *survey = node_survey_of(stay);

    survey->start_seconds = clock_seconds() - survey->began;
    survey->title = json_incref((json_t *)node_stay_title(stay));
    survey->began = clock_seconds();
    ev_timer_again(survey->loop, &survey->patience);
    node_stay_send(stay, NODE_ECHO, NULL, 0);
}

static void node_survey_on_step(struct node_stay *stay, const char *text)
{
    struct node_survey *survey = node_survey_of(stay);

    survey->step(survey, text);
}

static void node_survey_on_lost(struct node_stay *stay, const char *why)
{
    struct node_survey *survey = node_survey_of(stay);

    survey->fault = memory_copy_string(why);
    node_survey_end(survey);
}

void node_survey_begin(struct node_survey *survey, struct node_pool *pool)
{
    survey->stay = (struct node_stay){
        .granted = node_survey_on_granted,
        .step = node_survey_on_step,
        .frame = node_survey_on_frame,
        .lost = node_survey_on_lost,
    };
    ev_timer_init(&survey->patience, node_survey_on_patience, 0., NODE_SURVEY_PATIENCE_SECONDS);
    survey->began = clock_seconds();
    if (node_pool_enter(pool, &survey->stay))
        node_survey_on_granted(&survey->stay);
}

void node_survey_deinit(struct node_survey *survey)
{
    ev_timer_stop(survey->loop, &survey->patience);
    node_pool_leave(&survey->stay);
    json_decref(survey->title);
    free(survey->fault);
}
