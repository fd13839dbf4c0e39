#include "base/quantity.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stddef.h>

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
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
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
