#include "server/configuration/admin_address.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "server/transport/socket/address.h"

#include <string.h>

#define UNIX_SCHEME "unix://"

/* Nothing is at a path of its own there. */
static char *add_path(const char *text)
{
    const bool is_unix = strncmp(text, UNIX_SCHEME, strlen(UNIX_SCHEME)) == 0;

    return memory_format("%s%s", text, is_unix ? "#/" : "/");
}

static bool is_local(const struct address *address)
{
    if (address->kind == ADDRESS_UNIX_HTTP)
        return true;
    for (unsigned i = 0; i < address->endpoint_count; i++)
        if (!endpoint_is_loopback(&address->endpoints[i]))
            return false;
    return address->kind == ADDRESS_HTTP;
}

char *admin_address_read(const char *text, struct error *err)
{
    AUTO_FREE char *whole = add_path(text);
    struct address address;
    struct error cause = ERROR_INIT;

    if (address_parse(whole, &address, &cause) == 0 && is_local(&address))
        return STEAL_PTR(whole);
    error_set(err, ERROR_CONFIG,
              "must be http://HOST:PORT of a loopback address, or unix:///PATH, not \"%.200s\"",
              text);
    return NULL;
}
