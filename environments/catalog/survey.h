/* Asks the Pythons of environments, one after the other and in the background, for their versions
 * and packages, which models are told.
 *
 * An environment is asked when the server has started, when its configuration was read again, and
 * when it has been prepared. No call waits for it: a pause comes before each question, so that the
 * calls that come first go first.
 *
 *     IDLE -> PAUSING -> ASKING -> PAUSING ... */
#pragma once

#include "base/list.h"
#include "environments/environment.h"
#include "environments/interpreter/file_identity.h"

struct python_question;

enum survey_state {
    SURVEY_IDLE,    /* no environment is waiting */
    SURVEY_PAUSING, /* before the next question */
    SURVEY_ASKING,  /* waits for the answer of its Python */
};

struct environment_survey {
    /* Inputs; all borrowed. */
    struct ev_loop *loop;
    struct process_host *host;
    const char *state; /* an absolute path: where answers are kept */
    void (*learned)(struct environment_survey *survey); /* an environment has got other facts */

    /* Private. */
    enum survey_state step;
    struct list waiting;              /* of struct environment: borrowed */
    struct environment *asked;        /* borrowed; NULL: none, or it has gone */
    struct python_question *question; /* under way, or NULL */
    char *python;                     /* owned; the path of the Python that was asked last */
    struct file_identity file;        /* of `python`, when it was asked */
    struct environment_observer observer;
    ev_timer pause;
};

/* ENVIRONMENT gets the facts that an earlier server has kept. */
void survey_recall(const char *state, struct environment *environment);

/* Initializes SURVEY, whose inputs are set. */
void survey_init(struct environment_survey *survey);

/* ENVIRONMENT, which has begun, is asked soon, and again when it has been prepared. */
void survey_add(struct environment_survey *survey, struct environment *environment);

/* ENVIRONMENT is not asked any more. */
void survey_forget(struct environment_survey *survey, struct environment *environment);

/* Ends SURVEY. A question that is under way ends by itself. */
void survey_stop(struct environment_survey *survey);
