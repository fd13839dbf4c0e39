/* The kind of a TCP client, from the first bytes of its connection.
 *
 * A web page can make a browser send requests to any port of this machine, and can choose the body.
 * Read as lines, such a body would be messages: so the first line decides, and a connection that
 * begins as HTTP or TLS is not read any further. */
#pragma once

#include <stddef.h>

enum greeting {
    GREETING_UNDECIDED, /* more bytes are needed */
    GREETING_LINE,      /* neither HTTP nor TLS */
    GREETING_HTTP,
    GREETING_TLS,
};

enum { GREETING_BYTES = 32 }; /* never more than these are needed */

enum greeting greeting_classify(const char *bytes, size_t length);
