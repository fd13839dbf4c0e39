#include "environments/environment.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>

void environment_settings_deinit(struct environment_settings *settings)
{
    for (size_t i = 0; settings->variables && settings->variables[i]; i++)
        free(settings->variables[i]);
    free(settings->variables);
    settings->variables = NULL;
}

void environment_init(struct environment *environment, const struct environment_ops *ops,
                      struct environment_recipe *recipe)
{
    *environment = (struct environment){
        .ops = ops,
        .name = memory_copy_string(recipe->name),
        .loop = recipe->loop,
        .settings = recipe->settings,
    };
    recipe->settings.variables = NULL;
    list_init(&environment->waiters);
}

void environment_deinit(struct environment *environment)
{
    assert(list_is_empty(&environment->waiters));
    environment_settings_deinit(&environment->settings);
    free(environment->name);
    environment->name = NULL;
}

enum outcome environment_prepare(struct environment *environment, struct environment_waiter *waiter,
                                 struct error *err)
{
    enum outcome outcome = OUTCOME_PENDING;

    if (!environment->preparing)
        outcome = environment->ops->prepare(environment, err);
    if (outcome != OUTCOME_PENDING)
        return outcome;
    environment->preparing = true;
    list_append(&environment->waiters, &waiter->link);
    return OUTCOME_PENDING;
}

void environment_forget_waiter(struct environment_waiter *waiter)
{
    list_remove(&waiter->link);
}

/* What waits now is told; whoever starts to wait while it is told waits for the next preparation.
 */
void environment_prepared(struct environment *environment, const struct error *err)
{
    struct list told;

    list_init(&told);
    while (!list_is_empty(&environment->waiters)) {
        struct list *link = environment->waiters.next;

        list_remove(link);
        list_append(&told, link);
    }
    environment->preparing = false;
    while (!list_is_empty(&told)) {
        struct environment_waiter *waiter =
            CONTAINER_OF(told.next, struct environment_waiter, link);

        list_remove(&waiter->link);
        waiter->prepared(waiter, err);
    }
}

void environment_free(struct environment *environment)
{
    if (environment)
        environment->ops->free(environment);
}
