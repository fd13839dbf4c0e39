#include "environments/docker/pip_command.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"
#include "environments/docker/site.h"
#include "environments/packages/package_index.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum {
    PIP_COMMAND_ARGUMENTS = 24,
    PIP_COMMAND_VARIABLES = 16,
};

/* The variables of the server that pip gets, too. */
static const char *const pip_command_handed_on[] = {
    "HTTP_PROXY=",    "HTTPS_PROXY=",         "NO_PROXY=",         "ALL_PROXY=",
    "http_proxy=",    "https_proxy=",         "no_proxy=",         "all_proxy=",
    "PIP_INDEX_URL=", "PIP_EXTRA_INDEX_URL=", "PIP_TRUSTED_HOST=", "PIP_NO_INDEX=",
};

static void pip_command_add(const char **list, size_t *count, size_t most, const char *string)
{
    if (*count < most)
        list[(*count)++] = string;
}

/* An index in the definition replaces the server's variables about indexes. */
static bool pip_command_hands_on(const char *variable, bool has_index)
{
    if (has_index &&
        (text_starts_with(variable, "PIP_EXTRA") || text_starts_with(variable, "PIP_NO_INDEX")))
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(pip_command_handed_on); i++)
        if (text_starts_with(variable, pip_command_handed_on[i]))
            return true;
    return false;
}

static bool pip_command_has_variable(const char *const *variables, size_t count,
                                     const char *variable)
{
    size_t name = strcspn(variable, "=") + 1;

    for (size_t i = 0; i < count; i++)
        if (strncmp(variables[i], variable, name) == 0)
            return true;
    return false;
}

static void pip_command_choose_variables(const char *variables[PIP_COMMAND_VARIABLES + 1],
                                         const char *index, const char *trusted_host)
{
    size_t count = 0;

    pip_command_add(variables, &count, PIP_COMMAND_VARIABLES, "PIP_BREAK_SYSTEM_PACKAGES=1");
    pip_command_add(variables, &count, PIP_COMMAND_VARIABLES, "PIP_ROOT_USER_ACTION=ignore");
    if (index) /* it may hold a password, which a command line shows */
        pip_command_add(variables, &count, PIP_COMMAND_VARIABLES, index);
    if (trusted_host)
        pip_command_add(variables, &count, PIP_COMMAND_VARIABLES, trusted_host);
    for (char **variable = environ; *variable; variable++)
        if (pip_command_hands_on(*variable, index != NULL) &&
            !pip_command_has_variable(variables, count, *variable))
            pip_command_add(variables, &count, PIP_COMMAND_VARIABLES, *variable);
    variables[count] = NULL;
}

static void pip_command_choose_arguments(const struct packages_definition *definition,
                                         const char *python,
                                         const char *arguments[PIP_COMMAND_ARGUMENTS + 1])
{
    const char *const always[] = {
        python,
        "-I",
        "-m",
        "pip",
        "install",
        "--no-input",
        "--no-cache-dir",
        "--disable-pip-version-check",
        "--progress-bar",
        "off",
        "-r",
        PIP_COMMAND_REQUIREMENTS,
    };
    size_t count = 0;

    for (size_t i = 0; i < ARRAY_SIZE(always); i++)
        pip_command_add(arguments, &count, PIP_COMMAND_ARGUMENTS, always[i]);
    if (!definition->allow_source_builds)
        pip_command_add(arguments, &count, PIP_COMMAND_ARGUMENTS, "--only-binary=:all:");
    if (definition->pip_find_links)
        pip_command_add(arguments, &count, PIP_COMMAND_ARGUMENTS,
                        "--find-links=" PIP_COMMAND_WHEELS);
    arguments[count] = NULL;
}

json_t *pip_command_describe(const struct docker_site *site, const char *python, double seconds)
{
    const char *index = site->definition.packages.pip_index_url;
    AUTO_FREE char *index_variable = index ? memory_format("PIP_INDEX_URL=%s", index) : NULL;
    AUTO_FREE char *plain_host = package_index_plain_host(index);
    AUTO_FREE char *host_variable =
        plain_host ? memory_format("PIP_TRUSTED_HOST=%s", plain_host) : NULL;
    const char *arguments[PIP_COMMAND_ARGUMENTS + 1];
    const char *variables[PIP_COMMAND_VARIABLES + 1];
    struct docker_container container = docker_site_container(site, DOCKER_INSTALL);

    pip_command_choose_arguments(&site->definition.packages, python, arguments);
    pip_command_choose_variables(variables, index_variable, host_variable);
    container.user = "0:0";
    container.seconds = seconds;
    container.program = arguments;
    container.variables = variables;
    return docker_exec_describe(&container);
}
