#include "environments/reach.h"

#include "base/json.h"
#include "base/memory.h"
#include "environments/environment.h"
#include "environments/packages/packages_definition.h"
#include "environments/process/receipt.h"

#include <stdarg.h>
#include <stdlib.h>

void reach_add(json_t *lines, const char *label, const char *format, ...)
{
    AUTO_FREE char *text = NULL;
    va_list arguments;

    va_start(arguments, format);
    text = memory_format_list(format, arguments);
    va_end(arguments);
    json_array_append_new(lines, json_string_format("%s: %s", label, text));
}

void reach_add_packages(json_t *lines, const struct packages_definition *definition)
{
    const char *file = definition->requirements_file;
    AUTO_FREE char *list = json_list(definition->pip_packages);

    if (*list)
        reach_add(lines, "Packages", "%s", list);
    if (file)
        reach_add(lines, "Packages", "those in %s", file);
    if (definition->allow_source_builds && (*list || file))
        reach_add(lines, "Packages", "built from source where they have no wheel");
}

static void reach_add_places(json_t *lines, char *const *paths, const char *how)
{
    for (size_t i = 0; paths && paths[i]; i++)
        reach_add(lines, "Files", "%s, %s", paths[i], how);
}

static void reach_add_hosts(json_t *lines, char *const *hosts)
{
    for (; *hosts; hosts++)
        reach_add(lines, "Network", "%s, through a proxy", *hosts);
}

/* The layers that it will go without. Owned by the caller. */
static char *reach_list_absent(const struct environment *environment)
{
    static const enum process_layer layers[] = {LAYER_ROOT, LAYER_NETWORK, LAYER_FILES,
                                                LAYER_CALLS};
    AUTO_JSON json_t *absent = json_array();

    for (size_t i = 0; i < ARRAY_SIZE(layers); i++)
        if (environment_lacks(environment, layers[i]))
            json_array_append_new(absent, json_string(process_layer_name(layers[i])));
    return json_list(absent);
}

static void reach_add_sandbox(json_t *lines, const struct environment *environment)
{
    const struct sandbox_settings *sandbox = &environment->settings.sandbox;
    AUTO_FREE char *absent = reach_list_absent(environment);

    reach_add(lines, "Isolation", "a sandbox%s%s", *absent ? ", without " : "", absent);
    if (sandbox->hosts)
        reach_add_hosts(lines, sandbox->hosts);
    else
        reach_add(lines, "Network", "%s", sandbox->network ? "this machine's" : "none");
    reach_add_places(lines, sandbox->read, "read-only");
    reach_add_places(lines, sandbox->write, "which it may change");
    if (sandbox->gpu)
        reach_add(lines, "Devices", "the GPUs of this machine");
    reach_add(lines, "Files", "its working directory%s, which it may change",
              environment_lacks(environment, LAYER_ROOT) ? "" : " and a /tmp of its own");
}

void reach_add_machine(json_t *lines, const struct environment *environment)
{
    static const char none[] = "none: it has the files and the network of the server's user";
    AUTO_JSON json_t *given_up = environment_given_up(environment);
    AUTO_FREE char *reasons = json_list(given_up);

    if (environment_isolation(environment) == ISOLATION_SANDBOX)
        reach_add_sandbox(lines, environment);
    else if (given_up)
        reach_add(lines, "Isolation", "%s. There is no sandbox: %s", none, reasons);
    else
        reach_add(lines, "Isolation", "%s", none);
}
