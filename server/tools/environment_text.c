#include "server/tools/environment_text.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/quantity.h"
#include "environments/environment.h"

char *environment_text_limits(const struct environment *environment)
{
    const struct environment_settings *settings = &environment->settings;
    AUTO_FREE char *memory = quantity_bytes(settings->limits.memory);
    AUTO_FREE char *output = quantity_bytes(settings->output);
    AUTO_FREE char *disk = quantity_bytes(settings->disk);

    return memory_format("%g seconds unless `timeout` is given, at most %g; %s of memory, %u "
                         "processes and threads, %s of new files, %s kept of each output stream",
                         settings->timeout, settings->max_timeout, memory,
                         settings->limits.processes, disk, output);
}

/* Says when a person is asked. */
static const char *environment_text_approval(enum approval_policy policy)
{
    static const char *const words[] = {
        [APPROVAL_NEVER] = "",
        [APPROVAL_FIRST] = "; a person is asked before the first call",
        [APPROVAL_ALWAYS] = "; a person is asked before each call",
    };

    return words[policy];
}

char *environment_text(const struct environment *environment)
{
    AUTO_FREE char *limits = environment_text_limits(environment);

    return memory_format("%s (%s): %s%s", environment->name, environment->ops->kind->name, limits,
                         environment_text_approval(environment->settings.approval));
}
