#include "base/quantity.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const struct unit {
    const char *name;
    uint64_t bytes;
} units[] = {
    {"TiB", (uint64_t)1 << 40},
    {"GiB", (uint64_t)1 << 30},
    {"MiB", (uint64_t)1 << 20},
    {"KiB", (uint64_t)1 << 10},
};

char *quantity_bytes(uint64_t bytes)
{
    for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
        const struct unit *unit = &units[i];

        if (bytes < unit->bytes)
            continue;
        if (bytes % unit->bytes == 0)
            return memory_format("%" PRIu64 " %s", bytes / unit->bytes, unit->name);
        return memory_format("%.1f %s", (double)bytes / (double)unit->bytes, unit->name);
    }
    return memory_format("%" PRIu64 " byte%s", bytes, bytes == 1 ? "" : "s");
}

char *quantity_seconds(double seconds)
{
    return memory_format("%.6g second%s", seconds, seconds == 1 ? "" : "s");
}

bool quantity_read_bytes(const char *text, uint64_t *ret)
{
    static const struct unit written[] = {
        {"", 1},
        {"B", 1},
        {"KB", 1000},
        {"MB", 1000000},
        {"GB", 1000000000},
        {"TB", 1000000000000},
        {"KiB", (uint64_t)1 << 10},
        {"MiB", (uint64_t)1 << 20},
        {"GiB", (uint64_t)1 << 30},
        {"TiB", (uint64_t)1 << 40},
    };
    size_t digits = strspn(text, "0123456789");
    const char *name = text + digits + (text[digits] == ' ');
    int64_t bytes;

    for (size_t i = 0; digits > 0 && i < ARRAY_SIZE(written); i++) {
        if (strcmp(name, written[i].name) != 0)
            continue;
        if (__builtin_mul_overflow(strtoull(text, NULL, 10), written[i].bytes, &bytes))
            return false;
        *ret = (uint64_t)bytes;
        return true;
    }
    return false;
}
