#include "base/handle.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/random.h"

#include <string.h>

static const char REPLICA_CHARACTERS[] = "abcdefghijklmnopqrstuvwxyz0123456789";

char *handle_new(const char *replica, unsigned digits)
{
    AUTO_FREE char *secret = random_digits(digits);

    return replica ? memory_format("%s-%s", replica, secret) : STEAL_PTR(secret);
}

size_t handle_measure_replica(const char *text)
{
    const size_t length = strspn(text, REPLICA_CHARACTERS);

    return text[length] == '-' && length <= HANDLE_REPLICA_BYTES ? length : 0;
}

const char *handle_secret(const char *text)
{
    const size_t length = handle_measure_replica(text);

    return length > 0 ? text + length + 1 : text;
}
