#include "environments/packages/installer_proxies.h"

#include "base/memory.h"
#include "environments/egress/upstream.h"

#include <string.h>
#include <strings.h>

bool installer_proxies_have(const char *variable)
{
    static const char *const names[] = {
        "HTTP_PROXY=", "HTTPS_PROXY=", "ALL_PROXY=", "NO_PROXY=", "PIP_PROXY="};

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (strncasecmp(variable, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

char *installer_proxies_read_setting(const char *text)
{
    static const char key[] = "proxy";
    static const char blanks[] = " \t\r";

    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *value = line + strlen(key);
        size_t length;

        if (strncmp(line, key, strlen(key)) != 0)
            continue;
        value += strspn(value, blanks);
        if (*value != '=' && *value != ':')
            continue;
        value++;
        value += strspn(value, blanks);
        length = strcspn(value, " \t\r\n");
        if (length > 0)
            return memory_format("%.*s", (int)length, value);
    }
    return NULL;
}

/* The first of NAMES, NULL-terminated, that has a value. */
static const char *installer_proxies_value(const char *const *variables, const char *const *names)
{
    for (; *names; names++)
        for (size_t i = 0; variables[i]; i++)
            if (strncmp(variables[i], *names, strlen(*names)) == 0 &&
                variables[i][strlen(*names)] != '\0')
                return variables[i] + strlen(*names);
    return NULL;
}

struct installer_proxies {
    const char *plain;
    const char *secure;
    const char *spared;
};

/* A proxy in pip's own settings comes first, and has no exceptions. */
static struct installer_proxies installer_proxies_read(bool is_uv, const char *const *variables,
                                                       const char *of_pip)
{
    static const char *const own[] = {"PIP_PROXY=", NULL};
    static const char *const plain[] = {
        "http_proxy=", "HTTP_PROXY=", "all_proxy=", "ALL_PROXY=", NULL};
    static const char *const secure[] = {
        "https_proxy=", "HTTPS_PROXY=", "all_proxy=", "ALL_PROXY=", NULL};
    static const char *const spared[] = {"no_proxy=", "NO_PROXY=", NULL};
    const char *of_variable = installer_proxies_value(variables, own);
    const char *one = is_uv ? NULL : of_variable ? of_variable : of_pip;

    if (one)
        return (struct installer_proxies){.plain = one, .secure = one};
    return (struct installer_proxies){
        .plain = installer_proxies_value(variables, plain),
        .secure = installer_proxies_value(variables, secure),
        .spared = installer_proxies_value(variables, spared),
    };
}

static int installer_proxies_check(const char *url, struct error *err)
{
    struct upstream upstream;

    if (!url || upstream_parse(url, &upstream))
        return 0;
    return error_set(
        err, ERROR_UNAVAILABLE,
        "an installer in a sandbox goes through HTTP proxies only, \"http://host:port\": "
        "the operator can name one in HTTPS_PROXY and HTTP_PROXY of the server, or "
        "write `network: true`, which gives installers and scripts this machine's "
        "network");
}

char **installer_proxies_find(bool is_uv, const char *const *variables, const char *of_pip,
                              struct error *err)
{
    const struct installer_proxies found = installer_proxies_read(is_uv, variables, of_pip);
    char **proxies;
    size_t count = 0;

    if (installer_proxies_check(found.plain, err) < 0 ||
        installer_proxies_check(found.secure, err) < 0)
        return NULL;
    proxies = memory_new(4, sizeof *proxies);
    if (found.plain)
        proxies[count++] = memory_format("HTTP_PROXY=%s", found.plain);
    if (found.secure)
        proxies[count++] = memory_format("HTTPS_PROXY=%s", found.secure);
    if (found.spared)
        proxies[count++] = memory_format("NO_PROXY=%s", found.spared);
    return proxies;
}
