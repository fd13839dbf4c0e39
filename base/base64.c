#include "base/base64.h"

#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char *const DIGITS[] = {
    [BASE64_STANDARD] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    [BASE64_URL] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
};

char *base64_encode(enum base64_alphabet alphabet, const void *data, size_t length)
{
    const unsigned char *bytes = data;
    char *text = memory_new((length + 2) / 3 * 4 + 1, 1);
    char *end = text;

    for (size_t i = 0; i < length; i += 3) {
        size_t rest = length - i < 3 ? length - i : 3;
        uint32_t group = (uint32_t)bytes[i] << 16;

        if (rest > 1)
            group |= (uint32_t)bytes[i + 1] << 8;
        if (rest > 2)
            group |= bytes[i + 2];
        for (size_t digit = 0; digit <= rest; digit++)
            *end++ = DIGITS[alphabet][group >> (18 - 6 * digit) & 63];
        for (size_t digit = rest; alphabet == BASE64_STANDARD && digit < 3; digit++)
            *end++ = '=';
    }
    return text;
}

/* The length of TEXT without its padding, which must be right; -1 when it is not. */
static int strip_padding(enum base64_alphabet alphabet, const char *text, size_t *length)
{
    if (alphabet == BASE64_STANDARD) {
        if (*length % 4 != 0)
            return -1;
        for (int i = 0; i < 2 && *length > 0 && text[*length - 1] == '='; i++)
            (*length)--;
    }
    return *length % 4 == 1 ? -1 : 0;
}

static int digit_value(enum base64_alphabet alphabet, char digit)
{
    const char *place = digit ? strchr(DIGITS[alphabet], digit) : NULL;

    return place ? (int)(place - DIGITS[alphabet]) : -1;
}

char *base64_decode(enum base64_alphabet alphabet, const char *text, size_t length,
                    size_t *ret_length)
{
    char *data;
    size_t count = 0;
    uint32_t bits = 0;
    unsigned bit_count = 0;

    if (strip_padding(alphabet, text, &length) < 0)
        return NULL;
    data = memory_new(length / 4 * 3 + 3, 1);
    for (size_t i = 0; i < length; i++) {
        int value = digit_value(alphabet, text[i]);

        if (value < 0) {
            free(data);
            return NULL;
        }
        bits = bits << 6 | (uint32_t)value;
        bit_count += 6;
        if (bit_count >= 8) {
            bit_count -= 8;
            data[count++] = (char)(bits >> bit_count);
        }
    }
    if (bits & ((1U << bit_count) - 1)) { /* bits that no encoder sets */
        free(data);
        return NULL;
    }
    *ret_length = count;
    return data;
}
