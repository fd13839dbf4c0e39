#include "environments/packages/installer_sandbox.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/untrusted.h"
#include "environments/egress/egress.h"
#include "environments/interpreter/base_python.h"
#include "environments/interpreter/python_guess.h"
#include "environments/interpreter/script_places.h"
#include "environments/packages/installer_proxies.h"
#include "environments/packages/installer_settings.h"
#include "environments/packages/package_index.h"
#include "environments/packages/package_installer.h"
#include "environments/packages/requirements.h"
#include "environments/process/host.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { SETTINGS_BYTES = 64 * 1024 };

/* Names of hosts are the machine's: a sandbox has its own. */
static const char *const network_settings[] = {"/etc/hosts"};

/* A file that holds nothing but passwords: an index that needs none is read without it. */
static bool installer_sandbox_is_passwords(const char *path)
{
    return strcmp(basename(path), ".netrc") == 0;
}

/* True for TEXT of settings with a password, or with the key of a certificate. */
static bool installer_sandbox_has_secret(const char *text)
{
    return package_index_has_secret(text) || strcasestr(text, "client-cert") ||
           strcasestr(text, "client_cert");
}

static void installer_sandbox_note_secret(struct installer_sandbox *box, const char *path)
{
    free(box->secret);
    box->secret = memory_copy_string(path);
}

/* Shows a file or directory for an installer, unless scripts could have written there. */
static void installer_sandbox_show(struct installer_sandbox *box, const char *path)
{
    if (!script_places_reach(box->tool.holding->written, path))
        tool_sandbox_show(&box->tool, path);
}

static void installer_sandbox_show_named(struct installer_sandbox *box, const char *text)
{
    char **paths = python_guess_named(text);

    for (char **path = paths; *path; path++)
        installer_sandbox_show(box, *path);
    memory_free_strings(paths);
}

/* Shows a file of settings, and the files that it names: wheels, certificates. */
static void installer_sandbox_show_settings(void *data, const char *path)
{
    struct installer_sandbox *box = data;
    AUTO_FREE char *real = realpath(path, NULL);
    struct error ignored = ERROR_INIT;
    size_t length;
    char *proxy;
    AUTO_FREE char *text =
        real ? untrusted_read(AT_FDCWD, real, SETTINGS_BYTES, &length, &ignored) : NULL;

    if (!text || (box->may_build && installer_sandbox_is_passwords(path)))
        return;
    if (box->may_build && installer_sandbox_has_secret(text))
        installer_sandbox_note_secret(box, path);
    tool_sandbox_show(&box->tool, path);
    installer_sandbox_show_named(box, text);
    box->indexes = package_index_add_hosts(box->indexes, text, box->no_index);
    proxy = installer_proxies_read_setting(text);
    if (!proxy)
        return;
    free(box->pip_proxy);
    box->pip_proxy = proxy;
}

static bool installer_sandbox_begins(const char *variable, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(variable, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* Shows the files that VARIABLE of the installer names: settings, certificates, wheels. */
static void installer_sandbox_show_variable(struct installer_sandbox *box, const char *variable)
{
    static const char *const about_places[] = {"HOME=", "PATH=", "XDG_", "TMPDIR="};
    static const char *const written[] = {
        "PIP_CACHE_DIR=", "UV_CACHE_DIR=", "PIP_LOG=", "PIP_SRC="};
    static const char *const settings[] = {"PIP_CONFIG_FILE=", "UV_CONFIG_FILE="};
    static const char *const passwords[] = {"NETRC="};
    const char *value = strchr(variable, '=');

    if (!value || installer_sandbox_begins(variable, about_places, ARRAY_SIZE(about_places)) ||
        installer_sandbox_begins(variable, written, ARRAY_SIZE(written)) ||
        (box->may_build && installer_sandbox_begins(variable, passwords, ARRAY_SIZE(passwords))))
        return;
    value++;
    if (installer_sandbox_begins(variable, settings, ARRAY_SIZE(settings)))
        installer_sandbox_show_settings(box, value);
    else if (*value == '/')
        installer_sandbox_show(box, value); /* which may have blanks */
    installer_sandbox_show_named(box, value);
}

static void installer_sandbox_show_all_settings(struct installer_sandbox *box,
                                                const char *const *variables)
{
    AUTO_FREE char *written = installer_settings_find_written(box->tool.holding->written);

    if (!written)
        installer_settings_each(box, installer_sandbox_show_settings);
    for (size_t i = 0; variables[i]; i++)
        installer_sandbox_show_variable(box, variables[i]);
}

static void installer_sandbox_show_packages(struct installer_sandbox *box,
                                            const struct package_installation *installation)
{
    AUTO_FREE char *requirements = requirements_text(installation->requirements);

    installer_sandbox_show_named(box, requirements);
    if (installation->find_links && *installation->find_links == '/')
        installer_sandbox_show(box, installation->find_links);
    else if (installation->find_links)
        installer_sandbox_show_named(box, installation->find_links);
}

/* uv is told what PIP_NO_INDEX says. */
static bool installer_sandbox_has_no_index(const struct installer_sandbox *box,
                                           const char *const *variables)
{
    static const char *const names[] = {"PIP_NO_INDEX=", "UV_NO_INDEX="};

    for (size_t i = 0; variables[i]; i++)
        if (installer_sandbox_begins(variables[i], names, box->is_uv ? 2 : 1) &&
            package_index_is_yes(strchr(variables[i], '=') + 1))
            return true;
    return false;
}

/* True if VARIABLE is a setting of pip or uv whose URLs the installer may read. */
static bool installer_sandbox_names_index(const char *variable)
{
    static const char *const installers[] = {"PIP_", "UV_"};
    static const char *const others[] = {"PIP_PROXY=", "UV_PUBLISH_"};

    return installer_sandbox_begins(variable, installers, ARRAY_SIZE(installers)) &&
           !installer_sandbox_begins(variable, others, ARRAY_SIZE(others));
}

/* True if no variable replaces the default index. A file of settings may replace it, but is read
 * for its URLs only. */
static bool installer_sandbox_has_default(const struct installer_sandbox *box,
                                          const char *const *variables)
{
    static const char *const of_pip[] = {"PIP_INDEX_URL="};
    static const char *const of_uv[] = {"UV_DEFAULT_INDEX=", "UV_INDEX_URL="};
    const char *const *names = box->is_uv ? of_uv : of_pip;
    const size_t count = box->is_uv ? ARRAY_SIZE(of_uv) : ARRAY_SIZE(of_pip);

    for (size_t i = 0; variables[i]; i++)
        if (installer_sandbox_begins(variables[i], names, count) &&
            strchr(variables[i], '=')[1] != '\0')
            return false;
    return true;
}

static void installer_sandbox_find_indexes(struct installer_sandbox *box,
                                           const struct package_installation *installation,
                                           const char *const *variables)
{
    for (size_t i = 0; variables[i]; i++)
        if (installer_sandbox_names_index(variables[i]))
            box->indexes = package_index_add_hosts(box->indexes, variables[i], box->no_index);
    if (installation->find_links)
        box->indexes = package_index_add_hosts(box->indexes, installation->find_links, false);
    if (box->no_index || !installer_sandbox_has_default(box, variables))
        return;
    if (installation->default_index)
        box->indexes = package_index_add_hosts(box->indexes, installation->default_index, false);
    if (!box->indexes && !installation->holding->hosts && installation->base->claimed_index)
        box->claimed = package_index_add_hosts(NULL, installation->base->claimed_index, false);
}

/* Where there is no network of one's own there is no way to give it less than the machine's. */
static bool installer_sandbox_is_open(const struct installer_sandbox *box,
                                      const struct tool_holding *holding, struct process_host *host)
{
    const struct process_sandbox own = {0};

    return holding->network || box->lacks_index ||
           (!holding->required && !(process_host_receipt(host, &own).layers & LAYER_NETWORK));
}

static struct egress_way installer_sandbox_way(const struct installer_sandbox *box)
{
    return (struct egress_way){.hosts = box->claimed ? box->claimed : box->tool.holding->hosts,
                               .anywhere = box->indexes,
                               .proxies = box->proxies};
}

int installer_sandbox_connect(struct installer_sandbox *box,
                              const struct package_installation *installation,
                              const char *const *variables, struct egress **ret_egress,
                              struct error *err)
{
    const struct tool_holding *holding = installation->holding;
    struct egress_way way;

    *ret_egress = NULL;
    if (!holding->is_held)
        return 0;
    if (box->secret)
        return package_index_refuse_secret(box->secret, err);
    box->lacks_index =
        !box->no_index && !box->indexes && !box->claimed && !holding->hosts && !holding->network;
    if (installer_sandbox_is_open(box, holding, installation->host)) {
        box->tool.sandbox.network = true;
        for (size_t i = 0; i < ARRAY_SIZE(network_settings); i++)
            tool_sandbox_show(&box->tool, network_settings[i]);
        return 0;
    }
    box->proxies = installer_proxies_find(box->is_uv, variables, box->pip_proxy, err);
    if (!box->proxies)
        return -1;
    way = installer_sandbox_way(box);
    *ret_egress = egress_start(installation->host, holding->proxy, &way, err);
    if (!*ret_egress)
        return -1;
    box->tool.sandbox.outlet = egress_outlet(*ret_egress);
    return 0;
}

/* PIP_PROXY is set if pip has a proxy of its own, since that comes before the variables of all
 * programs. */
char **installer_sandbox_variables(const struct installer_sandbox *box)
{
    const struct egress_way way = installer_sandbox_way(box);
    char **variables = egress_variables(&way);
    size_t count = 0;

    if (!box->pip_proxy)
        return variables;
    while (variables[count])
        count++;
    variables = memory_resize(variables, (count + 2) * sizeof *variables);
    variables[count] = memory_format("PIP_PROXY=http://127.0.0.1:%d", SANDBOX_PROXY_PORT);
    variables[count + 1] = NULL;
    return variables;
}

void installer_sandbox_init(struct installer_sandbox *box,
                            const struct package_installation *installation,
                            const char *const *arguments, const char *const *variables)
{
    const struct base_python *base = installation->base;
    const char *const *opens = installation->holding->opens;
    AUTO_FREE char *pip = base->pip ? base_python_pip(base) : NULL;

    *box = (struct installer_sandbox){0};
    box->is_uv = strcmp(basename(arguments[0]), "uv") == 0;
    box->may_build = installation->allow_source_builds;
    tool_sandbox_init(&box->tool, installation->holding);
    if (!installation->holding->is_held)
        return;
    tool_sandbox_show_program(&box->tool, arguments[0], NULL);
    tool_sandbox_show_program(&box->tool, base->executable, (const char *const *)base->directories);
    tool_sandbox_show(&box->tool, installation->runner);
    if (installation->parent)
        tool_sandbox_show(&box->tool, installation->parent);
    if (pip)
        tool_sandbox_show(&box->tool, pip);
    for (size_t i = 0; opens && opens[i]; i++)
        tool_sandbox_show(&box->tool, opens[i]);
    box->no_index = installer_sandbox_has_no_index(box, variables);
    installer_sandbox_show_all_settings(box, variables);
    installer_sandbox_show_packages(box, installation);
    installer_sandbox_find_indexes(box, installation, variables);
    tool_sandbox_open(&box->tool, installation->venv);
    tool_sandbox_open(&box->tool, installation->scratch);
}

void installer_sandbox_deinit(struct installer_sandbox *box)
{
    tool_sandbox_deinit(&box->tool);
    memory_free_strings(box->indexes);
    memory_free_strings(box->claimed);
    memory_free_strings(box->proxies);
    free(box->pip_proxy);
    free(box->secret);
    *box = (struct installer_sandbox){0};
}
