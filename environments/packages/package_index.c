#include "environments/packages/package_index.h"

#include "base/memory.h"

#include <string.h>

#define SCHEME "http://"

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
