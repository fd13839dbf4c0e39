#include "environments/packages/package_index.h"

#include "base/memory.h"
#include "environments/egress/destination.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SCHEME "http://"

#define URL_ENDS " \t\r\n\"'`,;()[]{}<>|"

enum { INDEX_HOSTS_MOST = 64, HTTP_DEFAULT_PORT = 80, HTTPS_DEFAULT_PORT = 443 };

bool package_index_is_yes(const char *value)
{
    static const char *const yes[] = {"1", "true", "yes", "on", "y", "t"};

    for (size_t i = 0; value && i < ARRAY_SIZE(yes); i++)
        if (strcasecmp(value, yes[i]) == 0)
            return true;
    return false;
}

bool package_index_has_secret(const char *text)
{
    while ((text = strstr(text, "://"))) {
        text += strlen("://");
        if (text[strcspn(text, "@/ ,")] == '@')
            return true;
    }
    return false;
}

char *package_index_plain_host(const char *url)
{
    const char *host;

    if (!url || strncmp(url, SCHEME, strlen(SCHEME)) != 0)
        return NULL;
    host = url + strlen(SCHEME);
    if (strcspn(host, "@") < strcspn(host, "/"))
        host += strcspn(host, "@") + 1;
    return memory_format("%.*s", (int)strcspn(host, "/"), host);
}

/* The place that LENGTH bytes of AUTHORITY name, "user:password@host:port". */
static bool package_index_read_authority(const char *authority, size_t length, unsigned port,
                                         struct destination *ret)
{
    const char *at = memrchr(authority, '@', length);
    const char *host = at ? at + 1 : authority;
    const size_t size = length - (size_t)(host - authority);

    if (size > 2 && host[0] == '[' && host[size - 1] == ']')
        return destination_set(ret, host + 1, size - 2, port);
    if (memchr(host, ':', size))
        return destination_parse(host, size, ret);
    return destination_set(ret, host, size, port);
}

static char **package_index_append(char **list, const struct destination *host)
{
    const char *colon = strchr(host->host, ':');
    char *name =
        memory_format("%s%s%s:%u", colon ? "[" : "", host->host, colon ? "]" : "", host->port);
    size_t count = 0;

    while (list && list[count])
        count++;
    if (count == INDEX_HOSTS_MOST) {
        free(name);
        return list;
    }
    list = memory_resize(list, (count + 2) * sizeof *list);
    list[count] = name;
    list[count + 1] = NULL;
    return list;
}

/* The default port for the scheme in front of the "://" at COLON; 0: no http or https. */
static unsigned package_index_default_port(const char *text, const char *colon)
{
    static const char plain[] = "http";
    static const char secure[] = "https";
    const size_t before = (size_t)(colon - text);

    if (before >= strlen(secure) &&
        strncasecmp(colon - strlen(secure), secure, strlen(secure)) == 0)
        return HTTPS_DEFAULT_PORT;
    if (before >= strlen(plain) && strncasecmp(colon - strlen(plain), plain, strlen(plain)) == 0)
        return HTTP_DEFAULT_PORT;
    return 0;
}

/* The brackets of an address of IPv6 belong to its URL. */
static size_t package_index_measure_authority(const char *authority)
{
    const char *host = authority + strcspn(authority, "@/?#" URL_ENDS);

    host = *host == '@' ? host + 1 : authority;
    if (*host == '[')
        host += strcspn(host, "]/?#");
    host += *host == ']';
    return (size_t)(host - authority) + strcspn(host, "/?#" URL_ENDS);
}

static char **package_index_add_line(char **list, const char *line, size_t length)
{
    const char *end = line + length;
    const char *colon = line;

    while ((colon = memmem(colon, (size_t)(end - colon), "://", strlen("://")))) {
        const unsigned port = package_index_default_port(line, colon);
        struct destination host;

        colon += strlen("://");
        if (port && package_index_read_authority(colon, package_index_measure_authority(colon),
                                                 port, &host))
            list = package_index_append(list, &host);
    }
    return list;
}

/* "proxy = ...", "https-proxy = ..." */
static bool package_index_is_of_proxy(const char *line, size_t length)
{
    const size_t key = strcspn(line, "=:\n");

    return key < length && memmem(line, key, "proxy", strlen("proxy"));
}

/* "find-links = ...", "PIP_FIND_LINKS=..." */
static bool package_index_is_of_links(const char *line, size_t length)
{
    static const char *const ends[] = {"find-links", "find_links"};
    size_t key = strcspn(line, "=:\n");

    while (key > 0 && key < length && strchr(" \t", line[key - 1]))
        key--;
    for (size_t i = 0; key < length && i < ARRAY_SIZE(ends); i++)
        if (key >= strlen(ends[i]) &&
            strncasecmp(line + key - strlen(ends[i]), ends[i], strlen(ends[i])) == 0)
            return true;
    return false;
}

/* A setting may go on in lines that begin with a blank. */
char **package_index_add_hosts(char **list, const char *text, bool links_only)
{
    bool of_links = false;

    while (*text) {
        const size_t length = strcspn(text, "\n");

        if (*text != ' ' && *text != '\t')
            of_links = package_index_is_of_links(text, length);
        if ((of_links || !links_only) && !package_index_is_of_proxy(text, length))
            list = package_index_add_line(list, text, length);
        text += length + (text[length] == '\n');
    }
    return list;
}

int package_index_refuse_secret(const char *what, struct error *err)
{
    return error_set(
        err, ERROR_UNAVAILABLE,
        "the password in %s is not shown to code of packages, which runs while they are "
        "built: let the operator leave out allow_source_builds or the password",
        what);
}
