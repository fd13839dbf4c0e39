#include "environments/sandbox_policy.h"

#include "base/memory.h"
#include "environments/environment.h"

#include <stdlib.h>

/* Appends MORE, NULL-terminated or NULL, to LIST. */
static const char **sandbox_policy_extend(const char **list, const char *const *more)
{
    size_t count = 0;
    size_t added = 0;

    while (list && list[count])
        count++;
    while (more && more[added])
        added++;
    list = memory_resize(list, (count + added + 1) * sizeof *list);
    for (size_t i = 0; i < added; i++)
        list[count + i] = more[i];
    list[count + added] = NULL;
    return list;
}

void sandbox_policy_init(struct sandbox_policy *policy, const struct environment *environment,
                         const char *directory)
{
    const struct sandbox_settings *settings = &environment->settings.sandbox;
    const char *const own[] = {directory, NULL};

    *policy = (struct sandbox_policy){
        .sandbox = {.network = settings->network, .required = settings->required},
    };
    if (!settings->is_wanted)
        return;
    policy->read = sandbox_policy_extend(NULL, environment_needs(environment));
    policy->read = sandbox_policy_extend(policy->read, (const char *const *)settings->read);
    policy->write = sandbox_policy_extend(NULL, own);
    policy->write = sandbox_policy_extend(policy->write, (const char *const *)settings->write);
    policy->sandbox.read = policy->read;
    policy->sandbox.write = policy->write;
}

void sandbox_policy_deinit(struct sandbox_policy *policy)
{
    free(policy->read);
    free(policy->write);
    *policy = (struct sandbox_policy){0};
}

const struct process_sandbox *sandbox_policy_of(const struct sandbox_policy *policy,
                                                const struct environment *environment)
{
    return environment->settings.sandbox.is_wanted ? &policy->sandbox : NULL;
}
