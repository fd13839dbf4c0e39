#include "server/commands/engine_survey.h"

#include "base/curl/curl_library.h"
#include "base/list.h"
#include "environments/engine/engine.h"
#include "environments/engine/engine_request.h"
#include "server/loop.h"

#include <ev.h>

enum { QUESTIONS = 2 };

struct survey_inquiry {
    struct engine_request request;
    struct asking *asking; /* borrowed */
    json_t *answer;        /* owned */
};

struct asking {
    struct ev_loop *loop;
    struct engine *engine; /* owned */
    struct ev_timer deadline;
    struct survey_inquiry inquiries[QUESTIONS];
    int open; /* how many are not answered */
    struct error err;
};

static void engine_survey_on_done(struct engine_request *request,
                                  const struct engine_answer *answer, const struct error *err)
{
    struct survey_inquiry *inquiry = CONTAINER_OF(request, struct survey_inquiry, request);
    struct asking *asking = inquiry->asking;

    if (!err && answer->json)
        inquiry->answer = json_deep_copy(answer->json);
    else if (asking->err.code == ERROR_NONE && err)
        error_copy(&asking->err, err);
    if (--asking->open == 0)
        ev_break(asking->loop, EVBREAK_ALL);
}

static void engine_survey_on_deadline(struct ev_loop *loop, struct ev_timer *timer, int events)
{
    struct asking *asking = CONTAINER_OF(timer, struct asking, deadline);

    (void)events;
    if (asking->err.code == ERROR_NONE)
        error_set(&asking->err, ERROR_TIMEOUT,
                  "no answer from the Docker engine at %s in %g seconds",
                  engine_name(asking->engine), ENGINE_SURVEY_SECONDS);
    ev_break(loop, EVBREAK_ALL);
}

static void engine_survey_ask(struct asking *asking)
{
    static const char *const paths[QUESTIONS] = {"/version", "/info"};

    for (int i = 0; i < QUESTIONS; i++) {
        struct survey_inquiry *inquiry = &asking->inquiries[i];
        const struct engine_question question = {.method = "GET", .path = paths[i]};

        inquiry->asking = asking;
        inquiry->request.done = engine_survey_on_done;
        asking->open++;
        engine_request_start(&inquiry->request, asking->engine, &question);
    }
    ev_timer_init(&asking->deadline, engine_survey_on_deadline, ENGINE_SURVEY_SECONDS, 0.);
    ev_timer_start(asking->loop, &asking->deadline);
    ev_run(asking->loop, 0);
    ev_timer_stop(asking->loop, &asking->deadline);
    for (int i = 0; i < QUESTIONS; i++)
        engine_request_cancel(&asking->inquiries[i].request);
}

void engine_survey_make(struct engine_survey *survey, struct engine_address *address)
{
    struct asking asking = {.loop = NULL};

    *survey = (struct engine_survey){.err = ERROR_INIT};
    if (curl_library_load(&survey->err) < 0)
        return;
    asking.loop = loop_new();
    asking.engine = engine_new(asking.loop, address);
    engine_survey_ask(&asking);
    *survey = (struct engine_survey){
        .version = asking.inquiries[0].answer,
        .info = asking.inquiries[1].answer,
        .err = asking.err,
    };
    if (survey->err.code == ERROR_NONE && !(survey->version && survey->info))
        error_set(&survey->err, ERROR_UNAVAILABLE, "the service at %s is no Docker engine",
                  engine_name(asking.engine));
    engine_free(asking.engine);
    ev_loop_destroy(asking.loop);
}

void engine_survey_deinit(struct engine_survey *survey)
{
    json_decref(survey->version);
    json_decref(survey->info);
    *survey = (struct engine_survey){0};
}
