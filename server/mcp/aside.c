#include "server/mcp/aside.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/list.h"
#include "server/mcp/question.h"
#include "server/mcp/request.h"
#include "server/tools/invocation.h"

#include <assert.h>

#define ASIDE_PATIENCE_SECONDS 600.0 /* for the client to answer */

static void aside_clear(struct aside *aside)
{
    ev_timer_stop(aside->loop, &aside->patience);
    json_decref(STEAL_PTR(aside->question));
    aside->of = NULL;
    aside->number = 0;
}

static void aside_on_patience(struct ev_loop *loop, struct ev_timer *timer, int events)
{
    struct aside *aside = CONTAINER_OF(timer, struct aside, patience);

    (void)loop;
    (void)events;
    aside->is_in_vain = true;
    aside_give_up(aside, "a person has to approve it, and did not answer in time");
}

void aside_init(struct aside *aside, struct ev_loop *loop)
{
    *aside = (struct aside){.loop = loop};
    ev_timer_init(&aside->patience, aside_on_patience, ASIDE_PATIENCE_SECONDS, 0);
}

const char *aside_ask(struct aside *aside, struct mcp_request *request, struct invocation_aside *of,
                      json_t *question)
{
    AUTO_JSON json_t *translated = NULL;

    assert(!aside->of);
    if (aside->is_in_vain) {
        json_decref(question);
        return "a person has to approve it, and did not answer an earlier question";
    }
    translated = question_translate(question, request->version);
    aside->number = request->ask(request, json_object_get_string(translated, "method"),
                                 json_incref(json_object_get(translated, "params")));
    if (aside->number == 0) {
        json_decref(question);
        return "a person has to approve it, and this connection has no way for a question";
    }
    aside->request = request;
    aside->of = of;
    aside->question = question;
    ev_timer_set(&aside->patience, ASIDE_PATIENCE_SECONDS, 0);
    ev_timer_start(aside->loop, &aside->patience);
    return NULL;
}

bool aside_take(struct aside *aside, unsigned number, json_t *result, const struct error *err)
{
    struct invocation_aside *of = aside->of;
    AUTO_JSON json_t *answer = NULL;

    if (!of || number != aside->number)
        return false;
    if (!err)
        answer = question_restore(aside->question, aside->request->version, result);
    aside_clear(aside);
    of->answered(of, answer, "a person has to approve it, and the client could not ask one");
    return true;
}

void aside_withdraw(struct aside *aside)
{
    if (!aside->of)
        return;
    aside->request->withdraw(aside->request, aside->number);
    aside_clear(aside);
}

void aside_give_up(struct aside *aside, const char *why_not)
{
    struct invocation_aside *of = aside->of;

    if (!of)
        return;
    aside_withdraw(aside);
    of->answered(of, NULL, why_not);
}
