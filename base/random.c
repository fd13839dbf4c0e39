#include "base/random.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/types.h>

static const char HEX_DIGITS[] = "0123456789abcdef";

void random_fill(void *bytes, size_t length)
{
    if (getrandom(bytes, length, 0) != (ssize_t)length)
        abort(); /* does not happen for so few bytes (getrandom(2)) */
}

char *random_digits(unsigned digits)
{
    unsigned char bytes[64];
    char *text = memory_new(digits + 1, 1);

    assert(digits % 2 == 0 && digits / 2 <= sizeof bytes);
    random_fill(bytes, digits / 2);
    for (unsigned i = 0; i < digits; i += 2) {
        text[i] = HEX_DIGITS[bytes[i / 2] >> 4];
        text[i + 1] = HEX_DIGITS[bytes[i / 2] & 15];
    }
    return text;
}
