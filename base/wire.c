#include "base/wire.h"

enum { WIRE_NUMBER_BYTES = WIRE_HEAD_BYTES / 2 };

char *wire_put(char *bytes, uint64_t number, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (char)(number >> 8 * i & 0xff);
    return bytes + count;
}

uint64_t wire_take(const char **bytes, size_t count)
{
    uint64_t number = 0;

    for (size_t i = 0; i < count; i++)
        number |= (uint64_t)(unsigned char)(*bytes)[i] << 8 * i;
    *bytes += count;
    return number;
}

void wire_put_head(char head[WIRE_HEAD_BYTES], uint32_t type, size_t length)
{
    wire_put(wire_put(head, type, WIRE_NUMBER_BYTES), length, WIRE_NUMBER_BYTES);
}

bool wire_take_head(const struct wire_protocol *protocol, const char head[WIRE_HEAD_BYTES],
                    struct wire_head *ret)
{
    const struct wire_rule *rule = protocol->rules;

    ret->type = (uint32_t)wire_take(&head, WIRE_NUMBER_BYTES);
    ret->length = (uint32_t)wire_take(&head, WIRE_NUMBER_BYTES);
    if (ret->type == 0 || ret->type >= protocol->types)
        return false;
    rule += ret->type;
    return ret->length >= rule->least && ret->length <= rule->most;
}
