#include "server/tools/python/python_sender.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/list.h"
#include "base/log.h"
#include "environments/environment.h"
#include "server/tools/python/approval_form.h"
#include "server/tools/python/code_listing.h"
#include "server/tools/python/python_progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PYTHON_SENDER_TRIES = 3, /* questions until there is a clear answer */
    PYTHON_SENDER_TEXT_BYTES = LISTING_ROOM_BYTES + 4096,
};

static struct python_sender *python_sender_of(struct script_sender *sender)
{
    return CONTAINER_OF(sender, struct python_sender, sender);
}

static void python_sender_on_called(struct script_sender *sender, const char *tool)
{
    struct preparation_step step = {.fraction = -1};

    snprintf(step.text, sizeof step.text, "calling %s", tool);
    python_progress_step(python_sender_of(sender)->progress, &step);
}

/* The question */

/* Nothing in the arguments can end their listing. Owned by the caller; NULL: they are too large to
 * be shown as a whole. */
static char *python_sender_text(const struct script_question *question)
{
    AUTO_FREE char *arguments = json_dumps(question->arguments, JSON_INDENT(2));
    const char *shown = arguments ? arguments : "{}";
    AUTO(buffer_deinit) struct buffer text;

    buffer_init(&text, PYTHON_SENDER_TEXT_BYTES);
    if (code_listing_measure(shown, strlen(shown)).left_out > 0)
        return NULL;
    buffer_print(&text,
                 "A script wants to call the tool %s. May it? %s\n\n"
                 "Yes: further calls of this tool in this run are made without a question. "
                 "Once: they are asked about again.\n\n"
                 "All below is what the tool is given.\n\n",
                 question->tool, approval_form_advice(APPROVAL_FIRST));
    code_listing_append(&text, shown, strlen(shown));
    return strndup(buffer_bytes(&text), buffer_length(&text));
}

static const char *python_sender_put(struct python_sender *sender)
{
    AUTO_FREE char *text = python_sender_text(sender->question);

    if (!text)
        return "a person has to approve it, and its arguments are too large to be shown";
    sender->tries++;
    return invocation_ask_aside(sender->invocation, &sender->aside, text, approval_form_of_call());
}

static const char *python_sender_ask(struct script_sender *script_sender,
                                     struct script_question *question)
{
    struct python_sender *sender = python_sender_of(script_sender);
    const char *why_not;

    sender->question = question;
    sender->tries = 0;
    why_not = python_sender_put(sender);
    if (why_not)
        sender->question = NULL;
    return why_not;
}

static void python_sender_withdraw(struct script_sender *script_sender)
{
    struct python_sender *sender = python_sender_of(script_sender);

    sender->question = NULL;
    invocation_withdraw_aside(sender->invocation, &sender->aside);
}

/* The answer */

static void python_sender_settle(struct python_sender *sender, enum script_answer answer,
                                 const char *reason)
{
    static const char *const names[] = {
        [SCRIPT_ANSWER_NONE] = "none",
        [SCRIPT_ANSWER_NO] = "no",
        [SCRIPT_ANSWER_ONCE] = "once",
        [SCRIPT_ANSWER_YES] = "yes",
    };
    struct script_question *question = STEAL_PTR(sender->question);

    log_info("tool approval tool=%s answer=%s", question->tool, names[answer]);
    question->answered(question, answer, reason);
}

/* An accepted form without a clear choice in it is SCRIPT_ANSWER_NONE. */
static enum script_answer python_sender_read(const json_t *answer, const char **ret_reason)
{
    static const enum script_answer answers[] = {
        [APPROVAL_CHOICE_NONE] = SCRIPT_ANSWER_NONE,
        [APPROVAL_CHOICE_NO] = SCRIPT_ANSWER_NO,
        [APPROVAL_CHOICE_ONCE] = SCRIPT_ANSWER_ONCE,
        [APPROVAL_CHOICE_YES] = SCRIPT_ANSWER_YES,
    };
    const char *action = json_object_get_string(answer, "action");

    *ret_reason = NULL;
    if (action && strcmp(action, "decline") == 0)
        return SCRIPT_ANSWER_NO;
    if (!action || strcmp(action, "accept") != 0)
        return SCRIPT_ANSWER_NONE;
    return answers[approval_form_read(json_object_get(answer, "content"), APPROVAL_FIRST,
                                      ret_reason)];
}

static bool python_sender_is_cancelled(const json_t *answer)
{
    const char *action = json_object_get_string(answer, "action");

    return action && strcmp(action, "cancel") == 0;
}

static void python_sender_on_answered(struct invocation_aside *aside, const json_t *answer,
                                      const char *why_not)
{
    struct python_sender *sender = CONTAINER_OF(aside, struct python_sender, aside);
    enum script_answer decision;
    const char *reason;

    if (!answer) {
        python_sender_settle(sender, SCRIPT_ANSWER_NONE, why_not);
        return;
    }
    decision = python_sender_read(answer, &reason);
    why_not = "a person has to approve it, and made no decision";
    if (decision == SCRIPT_ANSWER_NONE && !python_sender_is_cancelled(answer) &&
        sender->tries < PYTHON_SENDER_TRIES) {
        const char *failure = python_sender_put(sender);

        if (!failure)
            return;
        why_not = failure;
    }
    python_sender_settle(sender, decision, decision == SCRIPT_ANSWER_NONE ? why_not : reason);
}

void python_sender_init(struct python_sender *sender, struct invocation *invocation,
                        struct python_progress *progress)
{
    *sender = (struct python_sender){
        .sender = {.called = python_sender_on_called,
                   .ask = python_sender_ask,
                   .withdraw = python_sender_withdraw},
        .invocation = invocation,
        .progress = progress,
        .aside.answered = python_sender_on_answered,
    };
}
