#include "server/transport/oauth/oauth_url.h"

#include "base/memory.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

/* The part of URL behind "://", or NULL. */
static const char *authority_of(const char *url)
{
    if (strncmp(url, "https://", 8) == 0)
        return url + 8;
    return strncmp(url, "http://", 7) == 0 ? url + 7 : NULL;
}

static bool is_loopback(const char *authority)
{
    static const char *const hosts[] = {"127.0.0.1", "[::1]", "localhost"};

    for (size_t i = 0; i < ARRAY_SIZE(hosts); i++) {
        size_t length = strlen(hosts[i]);

        if (strncmp(authority, hosts[i], length) == 0 &&
            (authority[length] == ':' || authority[length] == '/' || !authority[length]))
            return true;
    }
    return false;
}

/* Visible ASCII with a host, and nobody's name or password before it. */
static bool oauth_url_is_plain(const char *authority)
{
    for (const char *letter = authority; *letter; letter++)
        if (*letter <= ' ' || *letter > '~' || strchr("\"\\<>`{}|^", *letter))
            return false;
    return *authority && !strchr("/?#:", *authority) &&
           strcspn(authority, "@") >= strcspn(authority, "/?#");
}

bool oauth_url_is_safe(const char *url)
{
    const char *authority = authority_of(url);

    if (!authority || !oauth_url_is_plain(authority))
        return false;
    return strncmp(url, "https:", 6) == 0 || is_loopback(authority);
}

int oauth_url_check_resource(const char *url, struct error *err)
{
    const char *authority = authority_of(url);

    if (!authority || !oauth_url_is_plain(authority))
        return error_set(err, ERROR_CONFIG, "must be the URL that clients use: https://HOST/PATH");
    if (strpbrk(authority, "?#"))
        return error_set(err, ERROR_CONFIG, "must have no query and no fragment");
    if (url[strlen(url) - 1] == '/')
        return error_set(err, ERROR_CONFIG, "must not end in a slash");
    for (size_t i = 0; i < strcspn(authority, "/"); i++)
        if (isupper((unsigned char)authority[i]))
            return error_set(err, ERROR_CONFIG, "must have its host in lower case");
    return 0;
}

char *oauth_url_well_known(const char *url, const char *name)
{
    const char *authority = authority_of(url);
    const char *path;

    assert(authority); /* a URL without one has been refused */
    path = authority + strcspn(authority, "/");
    return memory_format("%.*s/.well-known/%s%s", (int)(path - url), url, name,
                         strcmp(path, "/") == 0 ? "" : path);
}
