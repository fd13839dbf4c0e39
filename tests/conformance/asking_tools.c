/* Tools that ask their client's user, its model, or where it works. Each is written once: it is
 * begun again with the answers. */
#include "base/cleanup.h"
#include "base/json.h"
#include "server/tools/invocation.h"
#include "server/tools/tool.h"
#include "tests/conformance/catalogue.h"

#include <string.h>

static void ask_model(struct invocation *invocation, const char *key, const char *prompt)
{
    invocation_ask(invocation, key, "sampling/createMessage",
                   json_pack("{s:[{s:s, s:{s:s, s:s}}], s:i}", "messages", "role", "user",
                             "content", "type", "text", "text", prompt, "maxTokens", 100));
}

/* What was filled in at NAME of the form KEY; NULL: it was not filled in. Borrowed. */
static const json_t *filled_in(const struct invocation *invocation, const char *key,
                               const char *name)
{
    return json_object_get(json_object_get(invocation_answer(invocation, key), "content"), name);
}

static const char *filled_in_text(const struct invocation *invocation, const char *key,
                                  const char *name)
{
    return json_string_value(filled_in(invocation, key, name));
}

/* What the model answered to KEY; NULL: nothing. Borrowed. */
static const char *model_text(const struct invocation *invocation, const char *key)
{
    return json_object_get_string(json_object_get(invocation_answer(invocation, key), "content"),
                                  "text");
}

static enum outcome ask_model_anything(struct invocation *invocation, struct error *err)
{
    const char *reply = model_text(invocation, "reply");

    (void)err;
    if (reply)
        catalogue_answer(invocation, "LLM response: %s", reply);
    else
        ask_model(invocation, "reply", json_object_get_string(invocation->arguments, "prompt"));
    return OUTCOME_READY;
}

/* Tells what came of the form KEY, or shows it: MESSAGE, PROPERTIES. */
static enum outcome show_form(struct invocation *invocation, const char *message,
                              const char *properties)
{
    const json_t *answer = invocation_answer(invocation, "form");
    AUTO_FREE char *text = answer ? json_dumps(answer, JSON_COMPACT) : NULL;

    if (text)
        catalogue_answer(invocation, "The user's answer: %s", text);
    else
        invocation_ask_form(invocation, "form", message, catalogue_object(properties));
    return OUTCOME_READY;
}

static enum outcome ask_user(struct invocation *invocation, struct error *err)
{
    (void)err;
    return show_form(invocation, json_object_get_string(invocation->arguments, "message"),
                     "{'username': {'type': 'string'}, 'email': {'type': 'string'}}");
}

static enum outcome ask_with_defaults(struct invocation *invocation, struct error *err)
{
    (void)err;
    return show_form(invocation, "Please check these.",
                     "{'name': {'type': 'string', 'default': 'John Doe'},"
                     " 'age': {'type': 'integer', 'default': 30},"
                     " 'score': {'type': 'number', 'default': 95.5},"
                     " 'status': {'type': 'string', 'enum': ['active', 'inactive', 'pending'],"
                     "   'default': 'active'},"
                     " 'verified': {'type': 'boolean', 'default': true}}");
}

static enum outcome ask_for_choices(struct invocation *invocation, struct error *err)
{
    (void)err;
    return show_form(
        invocation, "Please choose.",
        "{'untitledSingle': {'type': 'string', 'enum': ['option1', 'option2', 'option3']},"
        " 'titledSingle': {'type': 'string', 'oneOf': ["
        "   {'const': 'value1', 'title': 'First Option'},"
        "   {'const': 'value2', 'title': 'Second Option'},"
        "   {'const': 'value3', 'title': 'Third Option'}]},"
        " 'legacyEnum': {'type': 'string', 'enum': ['opt1', 'opt2', 'opt3'],"
        "   'enumNames': ['Option One', 'Option Two', 'Option Three']},"
        " 'untitledMulti': {'type': 'array', 'items': {'type': 'string',"
        "   'enum': ['option1', 'option2', 'option3']}},"
        " 'titledMulti': {'type': 'array', 'items': {'anyOf': ["
        "   {'const': 'value1', 'title': 'First Choice'},"
        "   {'const': 'value2', 'title': 'Second Choice'},"
        "   {'const': 'value3', 'title': 'Third Choice'}]}}}");
}

static enum outcome ask_name(struct invocation *invocation, struct error *err)
{
    const char *name = filled_in_text(invocation, "user_name", "name");

    (void)err;
    if (name)
        catalogue_answer(invocation, "Hello, %s!", name);
    else
        invocation_ask_form(invocation, "user_name", "What is your name?",
                            catalogue_object("{'name': {'type': 'string'}}"));
    return OUTCOME_READY;
}

static enum outcome ask_model_capital(struct invocation *invocation, struct error *err)
{
    const char *reply = model_text(invocation, "capital_question");

    (void)err;
    if (reply)
        catalogue_answer(invocation, "%s", reply);
    else
        ask_model(invocation, "capital_question", "What is the capital of France?");
    return OUTCOME_READY;
}

static const json_t *roots(const struct invocation *invocation)
{
    return json_object_get(invocation_answer(invocation, "client_roots"), "roots");
}

static enum outcome ask_roots(struct invocation *invocation, struct error *err)
{
    AUTO_FREE char *text = roots(invocation) ? json_dumps(roots(invocation), JSON_COMPACT) : NULL;

    (void)err;
    if (text)
        catalogue_answer(invocation, "The client works in %s.", text);
    else
        invocation_ask(invocation, "client_roots", "roots/list", json_object());
    return OUTCOME_READY;
}

/* Only the state that this tool has kept makes it content. */
static enum outcome ask_with_state(struct invocation *invocation, struct error *err)
{
    (void)err;
    if (json_is_true(filled_in(invocation, "confirm", "ok")) && invocation->state) {
        catalogue_answer(invocation, "state-ok: %s", json_string_value(invocation->state));
        return OUTCOME_READY;
    }
    invocation_ask_form(invocation, "confirm", "Please confirm",
                        catalogue_object("{'ok': {'type': 'boolean'}}"));
    invocation_keep(invocation, json_string("waits for a yes"));
    return OUTCOME_READY;
}

static enum outcome ask_everything(struct invocation *invocation, struct error *err)
{
    const char *name = filled_in_text(invocation, "user_name", "name");
    const char *greeting = model_text(invocation, "greeting");

    (void)err;
    if (name && greeting && roots(invocation)) {
        catalogue_answer(invocation, "%s, %s! You work in %zu places.", greeting, name,
                         json_array_size(roots(invocation)));
        return OUTCOME_READY;
    }
    invocation_ask_form(invocation, "user_name", "What is your name?",
                        catalogue_object("{'name': {'type': 'string'}}"));
    ask_model(invocation, "greeting", "Write a greeting of one word.");
    invocation_ask(invocation, "client_roots", "roots/list", json_object());
    invocation_keep(invocation, json_string("waits for three answers"));
    return OUTCOME_READY;
}

/* The second question is asked once the first is answered, and what it was is kept. */
static enum outcome ask_twice(struct invocation *invocation, struct error *err)
{
    const char *name = filled_in_text(invocation, "step1", "name");
    const char *color = filled_in_text(invocation, "step2", "color");

    (void)err;
    if (json_is_string(invocation->state) && color) {
        catalogue_answer(invocation, "%s likes %s.", json_string_value(invocation->state), color);
    } else if (name) {
        invocation_ask_form(invocation, "step2", "What is your favourite colour?",
                            catalogue_object("{'color': {'type': 'string'}}"));
        invocation_keep(invocation, json_string(name));
    } else {
        invocation_ask_form(invocation, "step1", "What is your name?",
                            catalogue_object("{'name': {'type': 'string'}}"));
        invocation_keep(invocation, json_integer(1));
    }
    return OUTCOME_READY;
}

/* Asks for what can be asked of this client. */
static enum outcome ask_what_can_be(struct invocation *invocation, struct error *err)
{
    (void)err;
    if (invocation->answers) {
        catalogue_answer(invocation, "Answered.");
        return OUTCOME_READY;
    }
    if (invocation->client.can_elicit)
        invocation_ask_form(invocation, "name", "What is your name?",
                            catalogue_object("{'name': {'type': 'string'}}"));
    if (invocation->client.can_sample)
        ask_model(invocation, "greeting", "Write a greeting of one word.");
    if (!invocation->result.requests)
        catalogue_answer(invocation, "There is nobody to ask.");
    return OUTCOME_READY;
}

static void add(struct registry *registry, const char *name, const char *description,
                enum outcome (*start)(struct invocation *invocation, struct error *err),
                const char *properties)
{
    catalogue_add_tool(registry,
                       &(struct tool){.name = name, .description = description, .start = start},
                       properties);
}

void catalogue_add_asking_tools(struct registry *registry)
{
    add(registry, "test_sampling", "Asks the client's model.", ask_model_anything,
        "{'prompt': {'type': 'string'}}");
    add(registry, "test_elicitation", "Asks the user.", ask_user,
        "{'message': {'type': 'string'}}");
    add(registry, "test_elicitation_sep1034_defaults", "Asks with defaults of every type.",
        ask_with_defaults, NULL);
    add(registry, "test_elicitation_sep1330_enums", "Asks with choices of every form.",
        ask_for_choices, NULL);
    add(registry, "test_streaming_elicitation", "Asks for a name.", ask_name, NULL);
    add(registry, "test_missing_capability", "Needs the client's model.", ask_model_capital, NULL);
    add(registry, "test_input_required_result_elicitation", "Asks for a name.", ask_name, NULL);
    add(registry, "test_input_required_result_sampling", "Asks the client's model.",
        ask_model_capital, NULL);
    add(registry, "test_input_required_result_list_roots", "Asks where the client works.",
        ask_roots, NULL);
    add(registry, "test_input_required_result_request_state", "Keeps something between rounds.",
        ask_with_state, NULL);
    add(registry, "test_input_required_result_tampered_state", "Keeps something, too.",
        ask_with_state, NULL);
    add(registry, "test_input_required_result_multiple_inputs", "Asks for three things at once.",
        ask_everything, NULL);
    add(registry, "test_input_required_result_multi_round", "Asks twice.", ask_twice, NULL);
    add(registry, "test_input_required_result_capabilities", "Asks for what can be asked.",
        ask_what_can_be, NULL);
}
