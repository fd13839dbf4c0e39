/* The form that a person answers. It has one field, because there are clients that can fill in no
 * more: they show the text of the question and send the text that the person types. */
#pragma once

#include "environments/environment_settings.h"

#include <jansson.h>

enum approval_choice {
    APPROVAL_CHOICE_NONE, /* the answer does not fit the form */
    APPROVAL_CHOICE_NO,
    APPROVAL_CHOICE_ONCE, /* only this code: later calls are asked about again */
    APPROVAL_CHOICE_YES,  /* with APPROVAL_FIRST later calls, too */
};

/* The schema of the form. New reference. */
json_t *approval_form(enum approval_policy policy);

/* The same for a call of a tool by a script, with the choices of APPROVAL_FIRST. */
json_t *approval_form_of_call(void);

/* Says in one sentence how to answer, for people who are not shown the form. Static storage. */
const char *approval_form_advice(enum approval_policy policy);

/* The choice in CONTENT, an answer to the form for POLICY. *RET_REASON: the text that was typed
 * behind a no, for the model; NULL or a part of CONTENT. */
enum approval_choice approval_form_read(const json_t *content, enum approval_policy policy,
                                        const char **ret_reason);
