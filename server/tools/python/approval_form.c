#include "server/tools/python/approval_form.h"

#include "base/json.h"
#include "base/memory.h"

#include <string.h>
#include <strings.h>

#define FIELD         "approve"
#define BETWEEN_WORDS " \t\r\n.,:;!-"

struct form_choice {
    const char *word; /* the value, which a person may type */
    enum approval_choice choice;
    const char *title;
};

/* Nothing is chosen by mistake: "no" comes first and is the default. */
static const struct form_choice each_time[] = {
    {"no", APPROVAL_CHOICE_NO, "No, do not run it"},
    {"yes", APPROVAL_CHOICE_YES, "Yes, run it"},
};

static const struct form_choice first_time[] = {
    {"no", APPROVAL_CHOICE_NO, "No, do not run it"},
    {"once", APPROVAL_CHOICE_ONCE, "Yes, run it, and ask again next time"},
    {"yes", APPROVAL_CHOICE_YES, "Yes, run it, and do not ask about later calls"},
};

static const struct form_choice of_call[] = {
    {"no", APPROVAL_CHOICE_NO, "No, do not call it"},
    {"once", APPROVAL_CHOICE_ONCE, "Yes, call it, and ask again next time"},
    {"yes", APPROVAL_CHOICE_YES, "Yes, call it, and do not ask again in this run"},
};

struct form_choices {
    const struct form_choice *of;
    size_t count;
};

static struct form_choices form_choices_for(enum approval_policy policy)
{
    if (policy == APPROVAL_FIRST)
        return (struct form_choices){first_time, ARRAY_SIZE(first_time)};
    return (struct form_choices){each_time, ARRAY_SIZE(each_time)};
}

static json_t *form_make(const char *title, const struct form_choices *choices)
{
    json_t *values = json_array();

    for (size_t i = 0; i < choices->count; i++)
        json_array_append_new(values, json_pack("{s:s, s:s}", "const", choices->of[i].word, //
                                                "title", choices->of[i].title));
    return json_pack("{s:s, s:{s:{s:s, s:s, s:o, s:s}}, s:[s]}", //
                     "type", "object", "properties",             //
                     FIELD, "type", "string", "title", title,    //
                     "oneOf", values, "default", choices->of[0].word, "required", FIELD);
}

json_t *approval_form(enum approval_policy policy)
{
    const struct form_choices choices = form_choices_for(policy);

    return form_make("Run it", &choices);
}

json_t *approval_form_of_call(void)
{
    const struct form_choices choices = {of_call, ARRAY_SIZE(of_call)};

    return form_make("Call it", &choices);
}

const char *approval_form_advice(enum approval_policy policy)
{
    if (policy == APPROVAL_FIRST)
        return "Answer yes, once or no. A reason for the model may follow the no.";
    return "Answer yes or no. A reason for the model may follow the no.";
}

/* The choice whose word, or its first letter, is the LENGTH bytes at WORD. */
static enum approval_choice form_choice_find(const struct form_choices *choices, const char *word,
                                             size_t length)
{
    for (size_t i = 0; i < choices->count; i++)
        if (strncasecmp(word, choices->of[i].word, length) == 0 &&
            (length == 1 || length == strlen(choices->of[i].word)))
            return choices->of[i].choice;
    return APPROVAL_CHOICE_NONE;
}

/* A yes with anything behind it may be a condition, so it does not count. */
enum approval_choice approval_form_read(const json_t *content, enum approval_policy policy,
                                        const char **ret_reason)
{
    const struct form_choices choices = form_choices_for(policy);
    const char *text = json_object_get_string(content, FIELD);
    enum approval_choice choice;
    size_t length;

    *ret_reason = NULL;
    if (!text)
        return APPROVAL_CHOICE_NONE;
    text += strspn(text, BETWEEN_WORDS);
    length = strcspn(text, BETWEEN_WORDS);
    choice = form_choice_find(&choices, text, length);
    text += length + strspn(text + length, BETWEEN_WORDS);
    if (!*text || choice == APPROVAL_CHOICE_NONE)
        return choice;
    *ret_reason = text;
    return choice == APPROVAL_CHOICE_NO ? choice : APPROVAL_CHOICE_NONE;
}
