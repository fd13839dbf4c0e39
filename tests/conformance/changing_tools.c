/* Tools that change what there is: one more tool, or prompt, or one less. */
#include "base/memory.h"
#include "server/tools/invocation.h"
#include "server/tools/prompt.h"
#include "server/tools/tool.h"
#include "tests/conformance/catalogue.h"

#include <stddef.h>

static const char CHANGING[] = "test_comes_and_goes";

static enum outcome say_hello(struct invocation *invocation, struct error *err)
{
    (void)err;
    catalogue_answer(invocation, "Hello.");
    return OUTCOME_READY;
}

static enum outcome prompt_hello(struct invocation *invocation, struct error *err)
{
    (void)err;
    prompt_add_text(invocation, "user", "Say hello.");
    return OUTCOME_READY;
}

static enum outcome change_tools(struct invocation *invocation, struct error *err)
{
    struct registry *registry = invocation->data;

    (void)err;
    if (registry_find(registry, REGISTRY_TOOLS, CHANGING))
        registry_remove(registry, REGISTRY_TOOLS, CHANGING);
    else
        catalogue_add_tool(registry,
                           &(struct tool){.name = CHANGING,
                                          .description = "Is not always there.",
                                          .start = say_hello},
                           NULL);
    catalogue_answer(invocation, "Changed.");
    return OUTCOME_READY;
}

static enum outcome change_prompts(struct invocation *invocation, struct error *err)
{
    static const struct prompt PROMPT = {
        .name = CHANGING, .description = "Is not always there.", .start = prompt_hello};
    struct registry *registry = invocation->data;

    if (registry_find(registry, REGISTRY_PROMPTS, CHANGING))
        registry_remove(registry, REGISTRY_PROMPTS, CHANGING);
    else if (prompt_register(registry, &PROMPT, err) < 0)
        return OUTCOME_FAILED;
    catalogue_answer(invocation, "Changed.");
    return OUTCOME_READY;
}

static enum outcome change_resource(struct invocation *invocation, struct error *err)
{
    (void)err;
    registry_update(invocation->data, "test://watched-resource");
    catalogue_answer(invocation, "Changed.");
    return OUTCOME_READY;
}

void catalogue_add_changing_tools(struct registry *registry)
{
    static const struct tool TOOLS[] = {
        {.name = "test_trigger_tool_change",
         .description = "Adds a tool, or removes it again.",
         .start = change_tools},
        {.name = "test_trigger_prompt_change",
         .description = "Adds a prompt, or removes it again.",
         .start = change_prompts},
        {.name = "test_trigger_resource_update",
         .description = "Says that the watched resource has changed.",
         .start = change_resource},
    };

    for (size_t i = 0; i < ARRAY_SIZE(TOOLS); i++)
        catalogue_add_tool(registry, &TOOLS[i], NULL);
}
