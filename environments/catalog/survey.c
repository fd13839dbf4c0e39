#include "environments/catalog/survey.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/state.h"
#include "environments/packages/python_facts.h"
#include "environments/packages/python_question.h"
#include "environments/packages/python_record.h"

#include <stdlib.h>

#define SURVEY_PAUSE_SECONDS 0.5

static const struct state survey_states[] = {
    [SURVEY_IDLE] = {"idle", 1 << SURVEY_PAUSING},
    [SURVEY_PAUSING] = {"pausing", 1 << SURVEY_ASKING | 1 << SURVEY_PAUSING | 1 << SURVEY_IDLE},
    [SURVEY_ASKING] = {"asking", 1 << SURVEY_PAUSING | 1 << SURVEY_IDLE},
};

static void survey_set_state(struct environment_survey *survey, enum survey_state state)
{
    state_change(survey_states, survey->step, state, "survey");
    survey->step = state;
    ev_timer_stop(survey->loop, &survey->pause);
    if (state != SURVEY_PAUSING)
        return;
    survey->asked = NULL;
    ev_now_update(survey->loop);
    ev_timer_set(&survey->pause, SURVEY_PAUSE_SECONDS, 0.);
    ev_timer_start(survey->loop, &survey->pause);
}

/* Owned by the caller, or NULL. A sandboxed script that may write into a venv must not get its
 * files executed by a question. */
static char *survey_find_python(const struct environment *environment)
{
    char *const *write = environment->settings.sandbox.write;

    if (!environment->ops->find_python || (write && *write))
        return NULL;
    return environment->ops->find_python(environment);
}

void survey_recall(const char *state, struct environment *environment)
{
    AUTO_FREE char *python = survey_find_python(environment);
    AUTO_JSON json_t *answer = python ? python_record_load(state, "answers", python) : NULL;

    environment_learn(environment, python_facts_read(answer));
}

/* Keeps the ANSWER for the environment that was asked, which may have gone meanwhile. */
static void survey_take(struct environment_survey *survey, const json_t *answer)
{
    struct python_facts *facts = python_facts_read(answer);

    if (!facts || !survey->asked) {
        python_facts_free(facts);
        return;
    }
    python_record_keep(survey->state, "answers", survey->python, &survey->file, answer);
    environment_learn(survey->asked, facts);
    survey->learned(survey);
}

static void survey_on_answered(void *data, const json_t *answer, const struct error *err)
{
    struct environment_survey *survey = data;

    survey->question = NULL;
    if (err)
        log_debug("%s did not name its packages: %s", survey->python, err->message);
    survey_take(survey, answer);
    survey_set_state(survey, SURVEY_PAUSING);
}

/* A Python that does not work is reported by the call that needs it. */
static void survey_ask(struct environment_survey *survey)
{
    const struct tool_holding holding = environment_holding(survey->asked, survey->state);
    const struct python_question_settings settings = {
        .loop = survey->loop,
        .host = survey->host,
        .python = survey->python,
        .holding = &holding,
        .needs = environment_needs(survey->asked),
        .data = survey,
        .answered = survey_on_answered,
    };
    struct error ignored = ERROR_INIT;

    file_identity_read(&survey->file, survey->python);
    survey->question = python_question_start(&settings, &ignored);
    survey_set_state(survey, survey->question ? SURVEY_ASKING : SURVEY_PAUSING);
}

/* Begins with the first environment that is waiting; IDLE if there is none. */
static void survey_next(struct environment_survey *survey)
{
    if (list_is_empty(&survey->waiting)) {
        survey_set_state(survey, SURVEY_IDLE);
        return;
    }
    survey->asked = CONTAINER_OF(survey->waiting.next, struct environment, survey);
    list_remove(&survey->asked->survey);
    free(survey->python);
    survey->python = survey_find_python(survey->asked);
    if (survey->python)
        survey_ask(survey);
    else
        survey_set_state(survey, SURVEY_PAUSING);
}

static void survey_on_pause(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    survey_next(CONTAINER_OF(timer, struct environment_survey, pause));
}

/* An environment without a Python is asked when it has been prepared. */
static void survey_want(struct environment_survey *survey, struct environment *environment)
{
    AUTO_FREE char *python = survey_find_python(environment);

    if (!python)
        return;
    list_remove(&environment->survey);
    list_append(&survey->waiting, &environment->survey);
    if (survey->step == SURVEY_IDLE)
        survey_set_state(survey, SURVEY_PAUSING);
}

static void survey_on_prepared(struct environment_observer *observer,
                               struct environment *environment)
{
    /* A preparation that installs nothing has not changed the packages. */
    if (!environment->facts || !environment->ops->kind->is_checkable)
        survey_want(CONTAINER_OF(observer, struct environment_survey, observer), environment);
}

void survey_init(struct environment_survey *survey)
{
    list_init(&survey->waiting);
    survey->observer.prepared = survey_on_prepared;
    ev_timer_init(&survey->pause, survey_on_pause, SURVEY_PAUSE_SECONDS, 0.);
}

void survey_add(struct environment_survey *survey, struct environment *environment)
{
    environment->observer = &survey->observer;
    survey_want(survey, environment);
}

void survey_forget(struct environment_survey *survey, struct environment *environment)
{
    environment->observer = NULL;
    list_remove(&environment->survey);
    if (survey->asked == environment)
        survey->asked = NULL;
}

void survey_stop(struct environment_survey *survey)
{
    while (!list_is_empty(&survey->waiting))
        list_remove(survey->waiting.next);
    if (survey->question)
        python_question_forget(STEAL_PTR(survey->question));
    free(STEAL_PTR(survey->python));
    if (survey->step != SURVEY_IDLE)
        survey_set_state(survey, SURVEY_IDLE);
}
