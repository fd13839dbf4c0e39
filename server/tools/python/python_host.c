#include "server/tools/python/python_host.h"

#include "base/memory.h"
#include "environments/environment.h"
#include "server/tools/hints/earlier_names.h"
#include "server/tools/python/guide.h"
#include "server/tools/python/python_offer.h"

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
    recurrence_init(&host->recurrence);
    return host;
}

const char *python_host_picture_helper(const struct python_host *host,
                                       const struct environment *environment)
{
    return environment->settings.images == IMAGES_INLINE ? host->settings.picture_helper : NULL;
}

struct script_tools *python_host_open_tools(const struct python_host *host,
                                            const struct environment *environment,
                                            const struct principal *principal)
{
    const struct python_settings *settings = &host->settings;

    return settings->open_tools ? settings->open_tools(settings->tools_data, environment, principal)
                                : NULL;
}

json_t *python_host_known_tools(const struct python_host *host,
                                const struct environment *environment,
                                const struct principal *principal)
{
    const struct python_settings *settings = &host->settings;

    return settings->known_tools
               ? settings->known_tools(settings->tools_data, environment, principal)
               : NULL;
}

char *python_host_instruct(void *data, const struct principal *principal, bool *ret_is_own)
{
    const struct python_host *host = data;
    const struct python_offer offer = python_offer_for(&host->settings, principal);

    *ret_is_own = python_offer_is_personal(principal);
    return guide_instructions(&offer);
}

void python_host_free(struct python_host *host)
{
    if (!host)
        return;
    free(host->default_environment);
    recurrence_end(&host->recurrence);
    approvals_deinit(&host->approvals);
    earlier_names_free(host->earlier);
    json_decref(host->known);
    free(host);
}
