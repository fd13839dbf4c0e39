#include "environments/packages/package_run.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/egress/egress.h"
#include "environments/packages/installer_proxies.h"
#include "environments/packages/installer_sandbox.h"
#include "environments/packages/package_installer.h"
#include "environments/process/subprocess.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

struct package_run {
    struct subprocess_settings settings; /* its callbacks and their data count */
    struct egress *egress;               /* owned, or NULL */
};

static void package_run_free(struct package_run *run)
{
    egress_stop(run->egress);
    free(run);
}

static void package_run_on_said(void *data, const char *line)
{
    const struct package_run *run = data;

    if (run->settings.said)
        run->settings.said(run->settings.data, line);
}

bool package_run_lacks_index(const char *said)
{
    if (strstr(said, "(from versions: none)"))
        return strstr(said, "connection broken by");
    return strstr(said, "Failed to fetch") &&
           (strstr(said, "client error (Connect)") || strstr(said, "server error (502 "));
}

/* True if SAID is the error of a connection that was tried without the proxy. */
static bool package_run_met_closed_network(const char *said)
{
    static const char *const words[] = {"Connection refused", "Network is unreachable",
                                        "Temporary failure in name resolution",
                                        "Name or service not known"};

    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (strstr(said, words[i]))
            return true;
    return false;
}

/* The reason why an installer with a proxy may have failed, or NULL; owned by the caller.
 * Installers rarely say it in SAID. */
static char *package_run_explain(const struct package_run *run, const char *said)
{
    AUTO_FREE char *refused = egress_refused(run->egress);

    if (refused)
        return memory_format(
            "The sandbox of the installer does not reach %s, which no setting of pip or uv "
            "names. If packages have to come from there, the operator can list it in "
            "`network` of the environment; its scripts reach it then, too.",
            refused);
    if (package_run_lacks_index(said) || !package_run_met_closed_network(said))
        return NULL;
    return memory_copy_string(
        "The sandbox of the installer, and of what packages run while they are built, reaches the "
        "package indexes only, and those through HTTP_PROXY and HTTPS_PROXY: take a package that "
        "has a wheel, or let the operator list what it needs in `network` of the environment.");
}

static void package_run_fail(const struct package_run *run, const char *output,
                             const struct error *err)
{
    AUTO_FREE char *said = error_text(err);
    AUTO_FREE char *reason = run->egress ? package_run_explain(run, said) : NULL;
    struct error_rest rest;
    struct error longer = ERROR_INIT_LONG(&rest);

    if (reason)
        error_set(&longer, err->code, "%s\n%s", said, reason);
    run->settings.ended(run->settings.data, output, reason ? &longer : err);
}

static void package_run_on_ended(void *data, const char *output, const struct error *err)
{
    struct package_run *run = data;

    if (err)
        package_run_fail(run, output, err);
    else
        run->settings.ended(run->settings.data, output, NULL);
    package_run_free(run);
}

/* VARIABLES with their proxies replaced by PROXIES; the strings are borrowed. Owned by the caller.
 */
static const char **package_run_join(const char *const *variables, char *const *proxies)
{
    const char **joined;
    size_t count = 0;
    size_t kept = 0;

    while (variables[count])
        count++;
    for (size_t i = 0; proxies && proxies[i]; i++)
        count++;
    joined = memory_new(count + 1, sizeof *joined);
    for (; *variables; variables++)
        if (!proxies || !installer_proxies_have(*variables))
            joined[kept++] = *variables;
    while (proxies && *proxies)
        joined[kept++] = *proxies++;
    return joined;
}

static void package_run_listen(struct package_run *run, struct subprocess_settings *settings)
{
    settings->data = run;
    settings->said = package_run_on_said;
    settings->ended = package_run_on_ended;
}

static struct subprocess *package_run_begin(struct package_run *run,
                                            const struct package_installation *installation,
                                            struct error *err)
{
    AUTO(installer_sandbox_deinit) struct installer_sandbox box;
    AUTO_FREE const char **variables = NULL;
    char **proxies = NULL;
    struct subprocess_settings settings = run->settings;
    struct subprocess *started;

    installer_sandbox_init(&box, installation, settings.arguments, settings.variables);
    if (installer_sandbox_connect(&box, installation, settings.variables, &run->egress, err) < 0)
        return NULL;
    if (box.lacks_index)
        package_run_on_said(run, PACKAGE_RUN_OPEN);
    if (run->egress)
        proxies = installer_sandbox_variables(&box);
    variables = package_run_join(settings.variables, proxies);
    settings.variables = variables;
    settings.sandbox = tool_sandbox_of(&box.tool);
    settings.absent = installation->holding->absent;
    package_run_listen(run, &settings);
    started = subprocess_start(&settings, err);
    memory_free_strings(proxies);
    return started;
}

struct subprocess *package_run_start(const struct package_installation *installation,
                                     const struct subprocess_settings *settings, struct error *err)
{
    struct package_run *run = NEW(struct package_run);
    struct subprocess *started;

    run->settings = *settings;
    started = package_run_begin(run, installation, err);
    if (!started)
        package_run_free(run);
    return started;
}
