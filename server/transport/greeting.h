/* What the first bytes of a TCP connection say about who is there.
 *
 * A web page can make a browser send requests to any port of this machine, and can choose the body.
 * Read as lines, that body would be messages: so the first line decides, and a connection that
 * begins as HTTP or TLS is not read any further. */
#pragma once

#include <stddef.h>

enum greeting {
    GREETING_UNDECIDED, /* more bytes are needed */
    GREETING_LINE,      /* neither of the others */
    GREETING_HTTP,
    GREETING_TLS,
};

enum { GREETING_BYTES = 32 }; /* never more than these are needed */

enum greeting greeting_classify(const char *bytes, size_t length);
