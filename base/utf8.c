#include "base/utf8.h"

#include "base/memory.h"

#include <stdint.h>
#include <string.h>

static const char REPLACEMENT[] = "\xEF\xBF\xBD"; /* U+FFFD */

struct lead {
    size_t bytes;        /* of the whole sequence; 0: cannot start one */
    unsigned char least; /* range of the second byte (RFC 3629 section 4) */
    unsigned char most;
};

static struct lead utf8_classify(unsigned char byte)
{
    if (byte < 0x80)
        return (struct lead){1, 0, 0};
    if (byte >= 0xC2 && byte <= 0xDF)
        return (struct lead){2, 0x80, 0xBF};
    if (byte == 0xE0)
        return (struct lead){3, 0xA0, 0xBF};
    if (byte == 0xED)
        return (struct lead){3, 0x80, 0x9F};
    if (byte >= 0xE1 && byte <= 0xEF)
        return (struct lead){3, 0x80, 0xBF};
    if (byte == 0xF0)
        return (struct lead){4, 0x90, 0xBF};
    if (byte >= 0xF1 && byte <= 0xF3)
        return (struct lead){4, 0x80, 0xBF};
    if (byte == 0xF4)
        return (struct lead){4, 0x80, 0x8F};
    return (struct lead){0, 0, 0};
}

size_t utf8_sequence(const char *text, size_t length, size_t *ret_skip)
{
    const unsigned char *bytes = (const unsigned char *)text;
    struct lead lead = utf8_classify(bytes[0]);
    size_t good = 1;

    while (good < lead.bytes && good < length) {
        unsigned char least = good == 1 ? lead.least : 0x80;
        unsigned char most = good == 1 ? lead.most : 0xBF;

        if (bytes[good] < least || bytes[good] > most)
            break;
        good++;
    }
    if (lead.bytes > 0 && good == lead.bytes)
        return good;
    *ret_skip = good;
    return 0;
}

/* Some of the bytes at the start of TEXT that are ASCII: they are most of most texts. */
static size_t utf8_ascii(const char *text, size_t length)
{
    static const uint64_t upper = 0x8080808080808080;
    size_t done = 0;
    uint64_t word;

    for (; done + sizeof word <= length; done += sizeof word) {
        memcpy(&word, text + done, sizeof word);
        if (word & upper)
            break;
    }
    return done;
}

bool utf8_is_valid(const char *text, size_t length)
{
    size_t skip;

    for (size_t i = utf8_ascii(text, length); i < length;) {
        size_t bytes = utf8_sequence(text + i, length - i, &skip);

        if (bytes == 0)
            return false;
        i += bytes;
        if (bytes == 1)
            i += utf8_ascii(text + i, length - i);
    }
    return true;
}

char *utf8_repair(const char *text, size_t length, size_t *ret_length)
{
    char *repaired = memory_new(length + 1, 3);
    size_t used = 0;

    for (size_t i = 0; i < length;) {
        size_t skip = 0;
        size_t bytes = utf8_ascii(text + i, length - i);

        if (bytes == 0)
            bytes = utf8_sequence(text + i, length - i, &skip);
        if (bytes > 0) {
            memcpy(repaired + used, text + i, bytes);
            used += bytes;
            i += bytes;
        } else {
            memcpy(repaired + used, REPLACEMENT, sizeof REPLACEMENT - 1);
            used += sizeof REPLACEMENT - 1;
            i += skip;
        }
    }
    repaired[used] = '\0';
    *ret_length = used;
    return memory_resize(repaired, used + 1);
}

size_t utf8_boundary_before(const char *text, size_t length)
{
    size_t back = 0; /* continuation bytes at the end */
    size_t skip = 0;
    const char *lead;

    while (back < 3 && back < length && ((unsigned char)text[length - 1 - back] & 0xC0) == 0x80)
        back++;
    if (back == length)
        return length;
    lead = text + length - 1 - back;
    if (utf8_sequence(lead, back + 1, &skip) > 0)
        return length;
    /* Ill-formed to the very end, and too short for the sequence that it begins: the rest may still
     * come. */
    if (skip == back + 1 && utf8_classify((unsigned char)*lead).bytes > back + 1)
        return length - 1 - back;
    return length;
}
