#include "environments/workplace/disk_survey.h"

#include "environments/workplace/workplace_private.h"

#define DISK_SURVEY_STEP_SECONDS 0.005 /* between two turns */

enum { STEP_OPERATIONS = 500 }; /* in one turn of the loop: a fifth of the time */

/* Begins to measure the directory at PLACE, unless it is gone. */
static void disk_survey_begin(struct workplace *workplace, const struct disk_place *place)
{
    struct disk_survey *survey = &workplace->survey;

    survey->directory = workplace_open_earlier(workplace, place);
    if (survey->directory)
        directory_measure_begin(&survey->measure, survey->directory->fd);
}

/* A measure that is not complete counts as its upper bound. */
static void disk_survey_note(struct disk_survey *survey)
{
    const uint64_t known = working_directory_bytes(survey->directory) + survey->more;
    const uint64_t seen = survey->measure.bytes;

    working_directory_note(survey->directory,
                           survey->measure.is_complete || seen > known ? seen : known);
}

static void disk_survey_drop(struct disk_survey *survey)
{
    struct working_directory *directory = survey->directory;

    if (!directory)
        return;
    directory_measure_end(&survey->measure);
    survey->directory = NULL;
    working_directory_unref(directory);
}

static void disk_survey_go_on(struct disk_survey *survey)
{
    if (directory_measure_step(&survey->measure, STEP_OPERATIONS))
        return;
    disk_survey_note(survey);
    disk_survey_drop(survey);
}

static void disk_survey_on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct disk_survey *survey = CONTAINER_OF(timer, struct disk_survey, timer);
    struct workplace *workplace = CONTAINER_OF(survey, struct workplace, survey);
    struct disk_place place;

    (void)loop;
    (void)events;
    if (survey->directory)
        disk_survey_go_on(survey);
    else if (disk_ledger_take_doubted(&workplace->ledger, &place, &survey->more))
        disk_survey_begin(workplace, &place);
    else
        disk_survey_stop(workplace);
}

void disk_survey_init(struct disk_survey *survey)
{
    ev_timer_init(&survey->timer, disk_survey_on_timer, 0., DISK_SURVEY_STEP_SECONDS);
}

void disk_survey_start(struct workplace *workplace)
{
    ev_timer *timer = &workplace->survey.timer;

    if (ev_is_active(timer))
        return;
    ev_timer_again(workplace->loop, timer);
    ev_unref(workplace->loop);
}

void disk_survey_stop(struct workplace *workplace)
{
    ev_timer *timer = &workplace->survey.timer;

    disk_survey_drop(&workplace->survey);
    if (!ev_is_active(timer))
        return;
    ev_ref(workplace->loop);
    ev_timer_stop(workplace->loop, timer);
}
