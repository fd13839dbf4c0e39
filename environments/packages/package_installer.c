#include "environments/packages/package_installer.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "environments/interpreter/base_python.h"
#include "environments/interpreter/python_version.h"
#include "environments/interpreter/search_path.h"
#include "environments/interpreter/tool_sandbox.h"
#include "environments/packages/installer_pip.h"
#include "environments/packages/installer_proxies.h"
#include "environments/packages/installer_settings.h"
#include "environments/packages/package_index.h"
#include "environments/packages/package_run.h"
#include "environments/packages/requirements.h"
#include "environments/process/subprocess.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* Arguments and variables */

/* NULL-terminated strings. */
struct strings {
    char **items; /* owned, as they are */
    size_t count;
};

static void package_installer_add(struct strings *strings, char *string /* taken */)
{
    strings->items = memory_resize(strings->items, (strings->count + 2) * sizeof *strings->items);
    strings->items[strings->count++] = string;
    strings->items[strings->count] = NULL;
}

static void add_all(struct strings *strings, const char *const *more)
{
    for (size_t i = 0; more[i]; i++)
        package_installer_add(strings, memory_copy_string(more[i]));
}

/* Adds VARIABLE, unless a variable of its name is there. */
static void add_variable(struct strings *variables, const char *variable)
{
    size_t name = strcspn(variable, "=") + 1;

    for (size_t i = 0; i < variables->count; i++)
        if (strncmp(variables->items[i], variable, name) == 0)
            return;
    package_installer_add(variables, memory_copy_string(variable));
}

static void strings_deinit(struct strings *strings)
{
    for (size_t i = 0; i < strings->count; i++)
        free(strings->items[i]);
    free(strings->items);
}

static bool begins_with_one_of(const char *text, const char *const *beginnings)
{
    for (size_t i = 0; beginnings[i]; i++)
        if (strncasecmp(text, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

/* True when the definition does not say where packages come from. */
static bool is_left_to_the_server(const struct package_installation *installation)
{
    return !installation->index_url && !installation->find_links;
}

/* True for a variable that configures an installer without choosing what it does or for which
 * Python. */
static bool package_installer_is_handed_on(const char *variable,
                                           const struct package_installation *installation)
{
    static const char *const taken[] = {"PIP_",
                                        "UV_",
                                        "HTTP_PROXY=",
                                        "HTTPS_PROXY=",
                                        "ALL_PROXY=",
                                        "NO_PROXY=",
                                        "SSL_CERT_",
                                        "REQUESTS_CA_BUNDLE=",
                                        "CURL_CA_BUNDLE=",
                                        "HOME=",
                                        "XDG_",
                                        "NETRC=",
                                        "PATH=",
                                        NULL};
    static const char *const refused[] = {
        "PIP_TARGET=",       "PIP_USER=",      "PIP_PREFIX=", "PIP_ROOT=",
        "PIP_REQUIREMENT=",  "PIP_EDITABLE=",  "PIP_PYTHON=", "PIP_REQUIRE_VIRTUALENV=",
        "UV_SYSTEM_PYTHON=", "UV_PYTHON=",     "UV_TARGET=",  "UV_PREFIX=",
        "UV_PROJECT",        "UV_WORKING_DIR", NULL};
    static const char *const sources[] = {
        "PIP_INDEX_URL=",    "PIP_EXTRA_INDEX_URL=", "PIP_NO_INDEX=",
        "UV_INDEX=",         "UV_INDEX_URL=",        "UV_EXTRA_INDEX_URL=",
        "UV_DEFAULT_INDEX=", "UV_NO_INDEX=",         NULL};

    static const char *const links[] = {"PIP_FIND_LINKS=", "UV_FIND_LINKS=", NULL};

    if (!begins_with_one_of(variable, taken) || begins_with_one_of(variable, refused))
        return false;
    if (installation->index_url && begins_with_one_of(variable, sources))
        return false;
    return is_left_to_the_server(installation) || !begins_with_one_of(variable, links);
}

/* uv does not read the configuration of pip. */
static void package_installer_translate(struct strings *variables, const char *from, const char *to)
{
    const char *value = getenv(from);

    if (value && *value && !getenv(to))
        package_installer_add(variables, memory_format("%s=%s", to, value));
}

static void add_index(struct strings *variables, const char *url)
{
    AUTO_FREE char *plain_host = package_index_plain_host(url);

    if (plain_host) {
        package_installer_add(variables, memory_format("PIP_TRUSTED_HOST=%s", plain_host));
        package_installer_add(variables, memory_format("UV_INSECURE_HOST=%s", plain_host));
    }
    if (url) {
        package_installer_add(variables, memory_format("PIP_INDEX_URL=%s", url));
        package_installer_add(variables, memory_format("UV_DEFAULT_INDEX=%s", url));
        return;
    }
    if (!getenv("UV_INDEX_URL"))
        package_installer_translate(variables, "PIP_INDEX_URL", "UV_DEFAULT_INDEX");
    package_installer_translate(variables, "PIP_EXTRA_INDEX_URL", "UV_INDEX");
}

/* A package may have put a program of any name into the venv. Owned by the caller. */
static char *package_installer_path(const struct package_installation *installation)
{
    AUTO_FREE char *path = search_path_without(installation->venv, installation->holding->written);

    return memory_format("PATH=%s", path);
}

/* Scripts that could have written a file of settings would choose the index, or a program. */
static void package_installer_forget_settings(struct strings *variables,
                                              const struct tool_holding *holding)
{
    static const char *const none[] = {"PIP_CONFIG_FILE=/dev/null", "UV_CONFIG_FILE=/dev/null",
                                       "UV_NO_CONFIG=1", "NETRC=/dev/null", NULL};
    AUTO_FREE char *written = installer_settings_find_written(holding->written);

    if (!written)
        return;
    log_warning("packages are installed without settings of pip and uv, since scripts can change "
                "%s",
                written);
    add_all(variables, none);
}

static void add_variables(struct strings *variables,
                          const struct package_installation *installation)
{
    static const char *const ours[] = {"LANG=C.UTF-8",
                                       "NO_COLOR=1",
                                       "PIP_NO_INPUT=1",
                                       "PIP_NO_CACHE_DIR=1",
                                       "PIP_PROGRESS_BAR=off",
                                       "PIP_DISABLE_PIP_VERSION_CHECK=1",
                                       "PIP_ROOT_USER_ACTION=ignore",
                                       "_PIP_RUNNING_IN_SUBPROCESS=1", /* no other Python */
                                       "UV_NO_CACHE=1",
                                       "UV_PYTHON_DOWNLOADS=never",
                                       "UV_LINK_MODE=copy",
                                       "UV_COMPILE_BYTECODE=1",
                                       "UV_NO_PROGRESS=1",
                                       NULL};

    add_all(variables, ours);
    package_installer_forget_settings(variables, installation->holding);
    package_installer_add(variables, memory_format("TMPDIR=%s", installation->scratch));
    package_installer_add(variables, package_installer_path(installation));
    add_index(variables, installation->index_url);
    package_installer_translate(variables, "PIP_CERT", "SSL_CERT_FILE");
    if (is_left_to_the_server(installation)) /* it may hold a password: not on a command line */
        package_installer_translate(variables, "PIP_FIND_LINKS", "UV_FIND_LINKS");
    for (char **variable = environ; *variable; variable++)
        if (package_installer_is_handed_on(*variable, installation))
            add_variable(variables, *variable);
}

/* Which installer */

static void add_uv(struct strings *arguments, const struct package_installation *installation,
                   char *uv /* taken */)
{
    package_installer_add(arguments, uv);
    add_all(arguments, (const char *const[]){"pip", "install", "--python", NULL});
    package_installer_add(arguments, memory_format("%s/bin/python", installation->runner));
    add_all(arguments, (const char *const[]){"--prefix", installation->venv, NULL});
    if (!installation->index_url &&
        (package_index_is_yes(getenv("PIP_NO_INDEX")) ||
         package_index_is_yes(getenv("UV_NO_INDEX")))) /* which it does not read */
        package_installer_add(arguments, memory_copy_string("--no-index"));
}

static void add_pip(struct strings *arguments, const struct package_installation *installation)
{
    const struct base_python *base = installation->base;
    AUTO_FREE char *packages = memory_format("%s/%s", installation->venv, base->packages);
    AUTO_FREE char *pip = base->pip ? base_python_pip(base) : memory_copy_string("");

    package_installer_add(arguments, memory_format("%s/bin/python", installation->runner));
    add_all(arguments,
            (const char *const[]){"-ISc", INSTALLER_PIP, installation->venv, packages, pip,
                                  text_or_none(installation->parent), "install", NULL});
}

static int fail_without_installer(const struct base_python *base, struct error *err)
{
    AUTO_FREE char *minor = python_version_minor(base->version);

    return error_set(err, ERROR_UNAVAILABLE,
                     "%s has neither ensurepip nor pip, and there is no uv on PATH: install "
                     "python%s-venv (as Debian and Ubuntu call it) or uv",
                     base->executable, minor);
}

/* The path of uv, if that is to install; owned by the caller. It does not look into a parent, so
 * pip comes first there. */
static char *package_installer_uv(const struct package_installation *installation)
{
    const struct base_python *base = installation->base;

    if (installation->parent && (base->pip || base->own_pip))
        return NULL;
    return search_path_find_outside("uv", installation->venv, installation->holding->written);
}

/* *RET_NAME: what errors call it. */
static int add_installer(struct strings *arguments, const struct package_installation *installation,
                         const char **ret_name, struct error *err)
{
    const struct base_python *base = installation->base;
    char *uv = package_installer_uv(installation);

    *ret_name = uv ? "uv" : "pip";
    if (!uv && !base->pip && !base->own_pip)
        return fail_without_installer(base, err);
    if (uv)
        add_uv(arguments, installation, uv);
    else
        add_pip(arguments, installation);
    return 0;
}

/* Both installers understand these. */
static void add_options(struct strings *arguments, const struct package_installation *installation,
                        const char *file)
{
    if (!installation->allow_source_builds)
        add_all(arguments, (const char *const[]){"--only-binary", ":all:", NULL});
    if (installation->find_links)
        add_all(arguments, (const char *const[]){"--find-links", installation->find_links, NULL});
    if (requirements_have_hashes(installation->requirements))
        package_installer_add(arguments, memory_copy_string("--require-hashes"));
    add_all(arguments, (const char *const[]){"-r", file, NULL});
}

/* A password of a package index, or a name that says so. The proxies of builds have none
 * (package_run.h). */
static bool holds_secret(const char *variable)
{
    static const char *const words[] = {"PASSWORD", "TOKEN", "SECRET", "CLIENT_CERT"};
    AUTO_FREE char *name = memory_format("%.*s", (int)strcspn(variable, "="), variable);

    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (strcasestr(name, words[i]))
            return true;
    return package_index_has_secret(variable) && !installer_proxies_have(variable);
}

/* Code of packages that are built would read a password. Without a sandbox it can read everything
 * of the server's user. */
static int check_secrets(const struct package_installation *installation,
                         const struct strings *variables, struct error *err)
{
    if (!installation->allow_source_builds || !installation->holding->is_held)
        return 0;
    for (size_t i = 0; i < variables->count; i++) {
        const char *variable = variables->items[i];
        AUTO_FREE char *name = strndup(variable, strcspn(variable, "="));

        if (holds_secret(variable))
            return package_index_refuse_secret(name, err);
    }
    return 0;
}

static int write_requirements(const struct package_installation *installation, const char *file,
                              struct error *err)
{
    AUTO_FREE char *text = requirements_text(installation->requirements);

    return fd_write_new_file(file, S_IRUSR | S_IWUSR, text, strlen(text), err);
}

struct subprocess *
package_installation_start(const struct package_installation *installation, void *data,
                           void (*said)(void *data, const char *line),
                           void (*ended)(void *data, const char *output, const struct error *err),
                           struct error *err)
{
    AUTO_FREE char *file = memory_format("%s/requirements.txt", installation->scratch);
    AUTO(strings_deinit) struct strings arguments = {0};
    AUTO(strings_deinit) struct strings variables = {0};
    struct subprocess_settings settings = {
        .host = installation->host,
        .directory = installation->scratch,
        .data = data,
        .said = said,
        .ended = ended,
    };

    if (add_installer(&arguments, installation, &settings.name, err) < 0 ||
        write_requirements(installation, file, err) < 0)
        return NULL;
    add_options(&arguments, installation, file);
    add_variables(&variables, installation);
    if (check_secrets(installation, &variables, err) < 0)
        return NULL;
    settings.arguments = (const char *const *)arguments.items;
    settings.variables = (const char *const *)variables.items;
    return package_run_start(installation, &settings, err);
}

/* Progress */

char *package_installation_step(const char *line)
{
    static const struct {
        const char *beginning;
        const char *step;
    } known[] = {
        {"Collecting ", "finding "},
        {"Downloading ", "downloading "},
        {"Building wheel for ", "building "},
        {"Installing collected packages: ", "installing "},
        {PACKAGE_RUN_OPEN, "it has this machine's network, since neither settings nor a Python in "
                           "/usr name the index"},
    };

    while (*line == ' ')
        line++;
    for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
        size_t length = strlen(known[i].beginning);

        if (strncmp(line, known[i].beginning, length) != 0)
            continue;
        line += length;
        return memory_format("%s%.*s", known[i].step,
                             known[i].step[0] == 'i' ? (int)strlen(line) : (int)strcspn(line, " "),
                             line);
    }
    return NULL;
}

/* The words of pip and of uv. */
static bool package_installation_lacks_wheel(const char *said)
{
    return strstr(said, "(from versions: none)") ||
           strstr(said, "building from source is disabled");
}

/* True if pip or uv did not trust a certificate, such as that of a proxy that reads what it passes
 * on. */
static bool package_installation_lacks_trust(const char *said)
{
    return strstr(said, "CERTIFICATE_VERIFY_FAILED") || strstr(said, "invalid peer certificate");
}

const char *package_installation_advice(const char *said, bool allow_source_builds)
{
    if (package_run_lacks_index(said) && package_installation_lacks_trust(said))
        return "The certificate of the package index is not trusted. For environments of this "
               "machine, the operator can name a file with the certificate of who has signed it "
               "(PIP_CERT)";
    if (package_run_lacks_index(said))
        return "The package index was not reached. The operator can name another one "
               "(PIP_INDEX_URL or pip.conf) or a proxy (HTTPS_PROXY)";
    if (allow_source_builds || !package_installation_lacks_wheel(said))
        return NULL;
    return "No wheel was found, and only wheels are installed. A package that has source archives "
           "only needs allow_source_builds: true, which the operator can set and calls cannot. "
           "Name another version or another package";
}
