#undef NDEBUG

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "server/tools/prompt.h"
#include "tests/conformance/catalogue.h"

#include <assert.h>

static const char *argument(const struct invocation *invocation, const char *name)
{
    return json_object_get_string(invocation->arguments, name);
}

static enum outcome simple(struct invocation *invocation, struct error *err)
{
    (void)err;
    prompt_add_text(invocation, "user", "This is a simple prompt for testing.");
    return OUTCOME_READY;
}

static enum outcome with_arguments(struct invocation *invocation, struct error *err)
{
    AUTO_FREE char *text =
        memory_format("Prompt with arguments: arg1='%s', arg2='%s'", argument(invocation, "arg1"),
                      argument(invocation, "arg2"));

    (void)err;
    prompt_add_text(invocation, "user", text);
    return OUTCOME_READY;
}

static enum outcome with_resource(struct invocation *invocation, struct error *err)
{
    (void)err;
    prompt_add_message(invocation, "user",
                       json_pack("{s:s, s:{s:s, s:s, s:s}}", "type", "resource", "resource", "uri",
                                 argument(invocation, "resourceUri"), "mimeType", "text/plain",
                                 "text", "Embedded resource content for testing."));
    prompt_add_text(invocation, "user", "Please process the embedded resource above.");
    return OUTCOME_READY;
}

static enum outcome with_image(struct invocation *invocation, struct error *err)
{
    (void)err;
    prompt_add_message(invocation, "user", catalogue_image());
    prompt_add_text(invocation, "user", "Please analyze the image above.");
    return OUTCOME_READY;
}

static enum outcome with_question(struct invocation *invocation, struct error *err)
{
    const json_t *answer = invocation_answer(invocation, "user_context");
    const char *context = json_object_get_string(json_object_get(answer, "content"), "context");

    (void)err;
    if (context)
        prompt_add_text(invocation, "user", context);
    else
        invocation_ask_form(invocation, "user_context", "What is this about?",
                            catalogue_object("{'context': {'type': 'string'}}"));
    return OUTCOME_READY;
}

static json_t *complete(void *data, const struct principal *principal, const char *name,
                        const char *value, const json_t *context)
{
    (void)data;
    (void)principal;
    (void)name;
    (void)value;
    (void)context;
    return catalogue_json("['paris', 'park', 'party']");
}

static const struct prompt PROMPTS[] = {
    {.name = "test_simple_prompt", .description = "Without arguments.", .start = simple},
    {.name = "test_prompt_with_arguments",
     .description = "With two arguments.",
     .arguments = {{.name = "arg1", .description = "The first.", .required = true},
                   {.name = "arg2", .description = "The second.", .required = true}},
     .complete = complete,
     .start = with_arguments},
    {.name = "test_prompt_with_embedded_resource",
     .description = "With a resource.",
     .arguments = {{.name = "resourceUri", .description = "Which one.", .required = true}},
     .start = with_resource},
    {.name = "test_prompt_with_image", .description = "With a picture.", .start = with_image},
    {.name = "test_input_required_result_prompt",
     .description = "Asks what it is about.",
     .start = with_question},
};

void catalogue_add_prompts(struct registry *registry)
{
    struct error err = ERROR_INIT;

    for (size_t i = 0; i < ARRAY_SIZE(PROMPTS); i++) {
        int failed = prompt_register(registry, &PROMPTS[i], &err);

        assert(failed == 0);
    }
}
