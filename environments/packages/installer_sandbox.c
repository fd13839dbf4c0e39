#include "environments/packages/installer_sandbox.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/untrusted.h"
#include "environments/interpreter/base_python.h"
#include "environments/interpreter/named_paths.h"
#include "environments/packages/package_installer.h"
#include "environments/packages/requirements.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { SETTINGS_BYTES = 64 * 1024 };

/* Where pip and uv look for settings, beside where variables say. */
static const char *const machine_settings[] = {"/etc/pip.conf", "/etc/xdg/pip/pip.conf",
                                               "/etc/uv/uv.toml", "/etc/xdg/uv/uv.toml"};
static const char *const home_settings[] = {".pip/pip.conf", ".config/pip/pip.conf",
                                            ".config/uv/uv.toml", ".netrc"};
static const char *const user_settings[] = {"pip/pip.conf", "uv/uv.toml"}; /* XDG_CONFIG_HOME */

/* Names of hosts are the machine's: a sandbox has its own. */
static const char *const network_settings[] = {"/etc/hosts"};

static void installer_sandbox_show_named(struct tool_sandbox *tool, const char *text)
{
    char **paths = named_paths_find(text);

    for (char **path = paths; *path; path++)
        tool_sandbox_show(tool, *path);
    memory_free_strings(paths);
}

/* Shows a file of settings, and what is named in it: wheels, certificates. */
static void installer_sandbox_show_settings(struct tool_sandbox *tool, const char *path)
{
    AUTO_FREE char *real = realpath(path, NULL);
    struct error ignored = ERROR_INIT;
    size_t length;
    AUTO_FREE char *text =
        real ? untrusted_read(AT_FDCWD, real, SETTINGS_BYTES, &length, &ignored) : NULL;

    if (!text)
        return;
    tool_sandbox_show(tool, path);
    installer_sandbox_show_named(tool, text);
}

static void installer_sandbox_show_below(struct tool_sandbox *tool, const char *variable,
                                         const char *const *names, size_t count)
{
    const char *directory = getenv(variable);

    for (size_t i = 0; directory && *directory == '/' && i < count; i++) {
        AUTO_FREE char *path = memory_format("%s/%s", directory, names[i]);

        installer_sandbox_show_settings(tool, path);
    }
}

static bool installer_sandbox_begins(const char *variable, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(variable, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* What is in VARIABLE of the installer: a file of settings, certificates, wheels. */
static void installer_sandbox_show_variable(struct tool_sandbox *tool, const char *variable)
{
    static const char *const about_places[] = {"HOME=", "PATH=", "XDG_", "TMPDIR="};
    static const char *const written[] = {
        "PIP_CACHE_DIR=", "UV_CACHE_DIR=", "PIP_LOG=", "PIP_SRC="};
    static const char *const settings[] = {"PIP_CONFIG_FILE=", "UV_CONFIG_FILE="};
    const char *value = strchr(variable, '=');

    if (!value || installer_sandbox_begins(variable, about_places, ARRAY_SIZE(about_places)) ||
        installer_sandbox_begins(variable, written, ARRAY_SIZE(written)))
        return;
    value++;
    if (installer_sandbox_begins(variable, settings, ARRAY_SIZE(settings)))
        installer_sandbox_show_settings(tool, value);
    else if (*value == '/')
        tool_sandbox_show(tool, value); /* which may have blanks */
    installer_sandbox_show_named(tool, value);
}

static void installer_sandbox_show_all_settings(struct tool_sandbox *tool,
                                                const char *const *variables)
{
    for (size_t i = 0; i < ARRAY_SIZE(machine_settings); i++)
        installer_sandbox_show_settings(tool, machine_settings[i]);
    installer_sandbox_show_below(tool, "HOME", home_settings, ARRAY_SIZE(home_settings));
    installer_sandbox_show_below(tool, "XDG_CONFIG_HOME", user_settings, ARRAY_SIZE(user_settings));
    for (size_t i = 0; variables[i]; i++)
        installer_sandbox_show_variable(tool, variables[i]);
}

static void installer_sandbox_show_packages(struct tool_sandbox *tool,
                                            const struct package_installation *installation)
{
    AUTO_FREE char *requirements = requirements_text(installation->requirements);

    installer_sandbox_show_named(tool, requirements);
    if (installation->find_links && *installation->find_links == '/')
        tool_sandbox_show(tool, installation->find_links);
    else if (installation->find_links)
        installer_sandbox_show_named(tool, installation->find_links);
}

/* The one place that says what an installation reaches. */
static void installer_sandbox_connect(struct tool_sandbox *tool)
{
    tool->sandbox.network = true;
    for (size_t i = 0; i < ARRAY_SIZE(network_settings); i++)
        tool_sandbox_show(tool, network_settings[i]);
}

void installer_sandbox_init(struct tool_sandbox *tool,
                            const struct package_installation *installation,
                            const char *const *arguments, const char *const *variables)
{
    const struct base_python *base = installation->base;
    AUTO_FREE char *python = memory_format("%s/bin/python", installation->venv);
    const char *const *opens = installation->holding->opens;

    tool_sandbox_init(tool, installation->holding);
    if (!installation->holding->is_held)
        return;
    tool_sandbox_show_program(tool, arguments[0], NULL);
    tool_sandbox_show_program(tool, base ? base->executable : python, installation->directories);
    for (size_t i = 0; opens && opens[i]; i++)
        tool_sandbox_show(tool, opens[i]);
    installer_sandbox_show_all_settings(tool, variables);
    installer_sandbox_show_packages(tool, installation);
    installer_sandbox_connect(tool);
    tool_sandbox_open(tool, installation->venv);
    tool_sandbox_open(tool, installation->scratch);
}
