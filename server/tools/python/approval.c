#include "server/tools/python/approval.h"

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/json.h"
#include "base/memory.h"
#include "environments/environment.h"
#include "server/tools/account.h"
#include "server/tools/invocation.h"
#include "server/tools/python/approval_form.h"

#include <stdlib.h>
#include <string.h>

#define KEY "approve_run"

enum {
    TRIES = 3, /* questions until there is a clear answer */
    REASON_BYTES = 4000,
    APPROVALS = 1024, /* kept for APPROVAL_FIRST */
};

void approvals_deinit(struct approvals *approvals)
{
    json_decref(STEAL_PTR(approvals->given));
}

static void approvals_add(struct approvals *approvals, const char *key)
{
    if (!approvals->given)
        approvals->given = json_object();
    if (json_object_size(approvals->given) >= APPROVALS)
        json_object_del(approvals->given, json_object_iter_key(json_object_iter(approvals->given)));
    json_object_set_new(approvals->given, key, json_true());
}

/* The digest of the caller, the environment and the packages that are installed first. It changes
 * with the configuration of the environment. */
static void digest_place(const struct invocation *invocation,
                         const struct approval_subject *subject, char ret[DIGEST_TEXT_BYTES])
{
    const struct environment *environment = subject->environment;
    AUTO_FREE char *packages = subject->packages ? json_dumps(subject->packages, 0) : NULL;
    char made_from[DIGEST_TEXT_BYTES];
    struct digest digest;

    environment_digest(environment->definition, &environment->settings, made_from);
    digest_init(&digest);
    digest_add_string(&digest, invocation->caller->principal->name);
    digest_add_string(&digest, environment->name);
    digest_add_string(&digest, made_from);
    if (packages)
        digest_add_string(&digest, packages);
    digest_finish(&digest, ret);
}

/* The question that a person is to decide. */
struct approval_question {
    enum approval_policy policy;
    char *text;                    /* owned */
    char place[DIGEST_TEXT_BYTES]; /* the place of the run: see digest_place */
    char
        shown[DIGEST_TEXT_BYTES]; /* the text and the place, whose configuration it shows in part */
};

static void approval_question_deinit(struct approval_question *question)
{
    free(question->text);
}

static void approval_question_digest(struct approval_question *question)
{
    struct digest digest;

    digest_init(&digest);
    digest_add_string(&digest, question->text);
    digest_add_string(&digest, question->place);
    digest_finish(&digest, question->shown);
}

/* The text of QUESTION, which may have been asked about another configuration. Owned by the caller.
 */
static char *approval_question_words(const struct approval_question *question, const json_t *state)
{
    const char *place = json_object_get_string(state, "place");

    if (!place || strcmp(place, question->place) == 0)
        return memory_copy_string(question->text);
    return memory_format("The environment was configured anew while you were asked, so what you "
                         "have answered does not count.\n\n%s",
                         question->text);
}

/* Asks QUESTION for the TRYth time. */
static void approval_ask(struct invocation *invocation, const struct approval_question *question,
                         json_int_t try)
{
    AUTO_FREE char *words = approval_question_words(question, invocation->state);

    invocation_ask_form(invocation, KEY, words, approval_form(question->policy));
    invocation_keep(invocation, json_pack("{s:s, s:s, s:I}", "shown", question->shown, "place",
                                          question->place, "try", try));
}

static void approval_refuse(struct invocation *invocation, const char *text)
{
    invocation->result.is_error = true;
    invocation_add_text(invocation, text, strlen(text));
}

static void approval_refuse_declined(struct invocation *invocation, const char *reason)
{
    AUTO_FREE char *text =
        reason ? memory_format("The user declined to run this code. The reason given: %.*s",
                               REASON_BYTES, reason)
               : memory_copy_string("The user declined to run this code.");

    approval_refuse(invocation, text);
}

enum decision {
    DECISION_NONE,      /* not asked yet */
    DECISION_UNCLEAR,   /* the answer does not fit the form */
    DECISION_STALE,     /* accepted, but something else was shown */
    DECISION_CANCELLED, /* dismissed without a decision */
    DECISION_DECLINED,
    DECISION_ACCEPTED,
    DECISION_ACCEPTED_ONCE, /* and later calls are asked about */
};

/* For the log. */
static const char *const decision_names[] = {
    [DECISION_NONE] = "asked",
    [DECISION_UNCLEAR] = "unclear",
    [DECISION_STALE] = "accepted",
    [DECISION_CANCELLED] = "cancelled",
    [DECISION_DECLINED] = "declined",
    [DECISION_ACCEPTED] = "accepted",
    [DECISION_ACCEPTED_ONCE] = "accepted",
};

static enum decision approval_read_form(const json_t *content, enum approval_policy policy,
                                        const char **ret_reason)
{
    static const enum decision decisions[] = {
        [APPROVAL_CHOICE_NONE] = DECISION_UNCLEAR,
        [APPROVAL_CHOICE_NO] = DECISION_DECLINED,
        [APPROVAL_CHOICE_ONCE] = DECISION_ACCEPTED_ONCE,
        [APPROVAL_CHOICE_YES] = DECISION_ACCEPTED,
    };

    return decisions[approval_form_read(content, policy, ret_reason)];
}

static enum decision approval_read_answer(const json_t *answer, enum approval_policy policy,
                                          const char **ret_reason)
{
    const char *action = json_object_get_string(answer, "action");

    *ret_reason = NULL;
    if (!answer)
        return DECISION_NONE;
    if (!action)
        return DECISION_UNCLEAR;
    if (strcmp(action, "decline") == 0)
        return DECISION_DECLINED;
    if (strcmp(action, "cancel") == 0)
        return DECISION_CANCELLED;
    if (strcmp(action, "accept") != 0)
        return DECISION_UNCLEAR;
    return approval_read_form(json_object_get(answer, "content"), policy, ret_reason);
}

static bool decision_is_yes(enum decision decision)
{
    return decision == DECISION_ACCEPTED || decision == DECISION_ACCEPTED_ONCE;
}

/* The decision so far about QUESTION. */
static enum decision approval_read_decision(const struct invocation *invocation,
                                            const struct approval_question *question,
                                            const char **ret_reason)
{
    enum decision decision =
        approval_read_answer(invocation_answer(invocation, KEY), question->policy, ret_reason);
    const char *was_shown = json_object_get_string(invocation->state, "shown");

    if (decision_is_yes(decision) && (!was_shown || strcmp(was_shown, question->shown) != 0))
        return DECISION_STALE;
    return decision;
}

/* Asks an undecided question again, up to TRIES times. */
static void approval_ask_again(struct invocation *invocation,
                               const struct approval_question *question)
{
    json_int_t tries = json_integer_value(json_object_get(invocation->state, "try"));

    if (tries >= TRIES)
        approval_refuse(invocation,
                        "The client did not answer the question whether this code may run with a "
                        "decision, so it did not run.");
    else
        approval_ask(invocation, question, tries + 1);
}

/* Acts on the decision about QUESTION and returns it. */
static enum decision approval_decide(struct invocation *invocation,
                                     const struct approval_question *question)
{
    const char *reason;
    enum decision decision = approval_read_decision(invocation, question, &reason);

    account_note(invocation, "approval", json_string(decision_names[decision]));
    switch (decision) {
    case DECISION_NONE:
    case DECISION_UNCLEAR:
    case DECISION_STALE:
        approval_ask_again(invocation, question);
        break;
    case DECISION_CANCELLED:
        approval_refuse(invocation,
                        "No decision was made about running this code; ask again later.");
        break;
    case DECISION_DECLINED:
        approval_refuse_declined(invocation, reason);
        break;
    case DECISION_ACCEPTED:
    case DECISION_ACCEPTED_ONCE:
        break;
    }
    return decision;
}

bool approval_settle(struct invocation *invocation, const struct approval_subject *subject,
                     struct approvals *approvals)
{
    AUTO(approval_question_deinit)
    struct approval_question question = {.policy = approval_subject_policy(subject)};
    enum decision decision;

    if (question.policy == APPROVAL_NEVER)
        return true;
    digest_place(invocation, subject, question.place);
    if (question.policy == APPROVAL_FIRST && json_object_get(approvals->given, question.place))
        return true;
    question.text = approval_text(subject);
    approval_question_digest(&question);
    decision = approval_decide(invocation, &question);
    if (decision == DECISION_ACCEPTED && question.policy == APPROVAL_FIRST)
        approvals_add(approvals, question.place);
    return decision_is_yes(decision);
}
