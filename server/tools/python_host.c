#include "server/tools/python_host.h"

#include "base/memory.h"
#include "server/tools/hints/earlier_names.h"

#include <stdlib.h>

void python_host_set(struct python_host *host, const struct python_settings *settings)
{
    char *name = memory_copy_string(settings->default_environment);

    free(host->default_environment);
    host->default_environment = name;
    host->settings = *settings;
    host->settings.default_environment = name;
}

struct python_host *python_host_new(const struct python_settings *settings)
{
    struct python_host *host = NEW(struct python_host);

    python_host_set(host, settings);
    host->earlier = earlier_names_new();
    return host;
}

void python_host_free(struct python_host *host)
{
    if (!host)
        return;
    free(host->default_environment);
    approvals_deinit(&host->approvals);
    earlier_names_free(host->earlier);
    json_decref(host->known);
    free(host);
}
