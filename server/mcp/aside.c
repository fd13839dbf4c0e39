#include "server/mcp/aside.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/list.h"
#include "server/mcp/question.h"
#include "server/mcp/request.h"
#include "server/tools/invocation.h"

#include <stddef.h>

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
    aside_give_up(aside, "a person has to approve it, and did not answer in time",
                  "a person has to approve it, and did not answer an earlier question");
}

void aside_init(struct aside *aside, struct ev_loop *loop)
{
    *aside = (struct aside){.loop = loop};
    list_init(&aside->waiting);
    ev_timer_init(&aside->patience, aside_on_patience, ASIDE_PATIENCE_SECONDS, 0);
}

/* Asks QUESTION (taken) now; returns as aside_ask does. */
static const char *aside_put(struct aside *aside, struct invocation_aside *of, json_t *question)
{
    struct mcp_request *request = aside->request;
    AUTO_JSON json_t *translated = question_translate(question, request->version);

    aside->number = request->ask(request, json_object_get_string(translated, "method"),
                                 json_incref(json_object_get(translated, "params")));
    if (aside->number == 0) {
        json_decref(question);
        return "a person has to approve it, and this connection has no way for a question";
    }
    aside->of = of;
    aside->question = question;
    ev_timer_set(&aside->patience, ASIDE_PATIENCE_SECONDS, 0);
    ev_timer_start(aside->loop, &aside->patience);
    return NULL;
}

/* Takes the first of those that wait; NULL: nobody waits. */
static struct invocation_aside *aside_take_waiting(struct aside *aside, json_t **ret_question)
{
    struct invocation_aside *of = CONTAINER_OF(aside->waiting.next, struct invocation_aside, link);

    if (list_is_empty(&aside->waiting))
        return NULL;
    list_remove(&of->link);
    *ret_question = STEAL_PTR(of->question);
    return of;
}

static void aside_put_next(struct aside *aside)
{
    struct invocation_aside *of;
    json_t *question;

    while (!aside->of && (of = aside_take_waiting(aside, &question))) {
        const char *why_not = aside_put(aside, of, question);

        if (why_not)
            of->answered(of, NULL, why_not);
    }
}

const char *aside_ask(struct aside *aside, struct mcp_request *request, struct invocation_aside *of,
                      json_t *question)
{
    if (aside->why_not) {
        json_decref(question);
        return aside->why_not;
    }
    aside->request = request;
    if (!aside->of)
        return aside_put(aside, of, question);
    of->question = question;
    list_append(&aside->waiting, &of->link);
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
    aside_put_next(aside);
    of->answered(of, answer, "a person has to approve it, and the client could not ask one");
    return true;
}

static void aside_withdraw_asked(struct aside *aside)
{
    aside->request->withdraw(aside->request, aside->number);
    aside_clear(aside);
}

void aside_withdraw(struct aside *aside, struct invocation_aside *of)
{
    if (aside->of == of) {
        aside_withdraw_asked(aside);
        aside_put_next(aside);
    } else if (of->question) {
        list_remove(&of->link);
        json_decref(STEAL_PTR(of->question));
    }
}

/* Withdraws the first question; whose it was, or NULL: there is none. */
static struct invocation_aside *aside_withdraw_first(struct aside *aside)
{
    struct invocation_aside *of = aside->of;
    AUTO_JSON json_t *question = NULL;

    if (!of)
        return aside_take_waiting(aside, &question);
    aside_withdraw_asked(aside);
    return of;
}

void aside_end(struct aside *aside)
{
    while (aside_withdraw_first(aside))
        ;
}

void aside_give_up(struct aside *aside, const char *why_not, const char *later)
{
    struct invocation_aside *of;

    aside->why_not = later;
    while ((of = aside_withdraw_first(aside)))
        of->answered(of, NULL, why_not);
}
