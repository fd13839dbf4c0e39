#include "server/transport/greeting.h"

#include "base/memory.h"

#include <string.h>
#include <strings.h>

enum {
    METHOD_BYTES = 20,         /* longer than every method there is */
    TLS_HANDSHAKE_BYTE = 0x16, /* RFC 8446, 5.1: the type of a record */
};

/* How the target of a request line begins (RFC 9112, 3.2). The target of CONNECT may be
 * anything. */
static const char *const targets[] = {"/", "*", "http:", "https:"};

enum { TARGETS = ARRAY_SIZE(targets) };

static size_t letters_at(const char *bytes, size_t length)
{
    size_t count = 0;

    while (count < length && ((bytes[count] >= 'A' && bytes[count] <= 'Z') ||
                              (bytes[count] >= 'a' && bytes[count] <= 'z')))
        count++;
    return count;
}

static enum greeting classify_target(const char *bytes, size_t length)
{
    enum greeting greeting = GREETING_LINE;

    for (size_t i = 0; i < TARGETS; i++) {
        size_t wanted = strlen(targets[i]);

        if (strncasecmp(bytes, targets[i], length < wanted ? length : wanted) != 0)
            continue;
        if (length >= wanted)
            return GREETING_HTTP;
        greeting = GREETING_UNDECIDED;
    }
    return greeting;
}

enum greeting greeting_classify(const char *bytes, size_t length)
{
    size_t method = letters_at(bytes, length);

    if (length > 0 && bytes[0] == TLS_HANDSHAKE_BYTE)
        return GREETING_TLS;
    if (method > METHOD_BYTES)
        return GREETING_LINE;
    if (method == length)
        return GREETING_UNDECIDED;
    if (method == 0 || bytes[method] != ' ')
        return GREETING_LINE;
    if (method == strlen("CONNECT") && strncasecmp(bytes, "CONNECT", method) == 0)
        return GREETING_HTTP;
    return classify_target(bytes + method + 1, length - method - 1);
}
