#include "base/cleanup.h"
#include "base/memory.h"
#include "base/quantity.h"
#include "base/text.h"
#include "environments/environment.h"
#include "server/tools/hints/hint_table.h"

#include <stdint.h>
#include <string.h>

/* An environment that the caller may name, with a larger limit than the run's environment. */
static const struct environment *hint_find_larger(const struct hint_facts *facts,
                                                  bool (*is_larger)(const struct environment *a,
                                                                    const struct environment *b))
{
    for (size_t i = 0; facts->offered[i]; i++)
        if (is_larger(facts->offered[i], facts->environment))
            return facts->offered[i];
    return NULL;
}

/* Also what OpenBLAS says, which numpy brings along. */
char *hint_threads(const struct hint_facts *facts)
{
    const bool is_thread = hint_is_about(facts, "RuntimeError") &&
                           strcmp(facts->failure.message, "can't start new thread") == 0;
    const bool is_library = strstr(facts->errors, "pthread_create failed for thread");

    if (facts->run->is_success || (!is_thread && !is_library))
        return NULL;
    return memory_format("This environment allows %u processes and threads in all, and each thread "
                         "needs memory, too. Use fewer workers.",
                         facts->environment->settings.limits.processes);
}

static bool hint_has_more_memory(const struct environment *a, const struct environment *b)
{
    return a->settings.limits.memory > b->settings.limits.memory;
}

static bool hint_is_out_of_memory(const struct hint_facts *facts)
{
    static const char *const types[] = {
        "MemoryError",
        "numpy.core._exceptions._ArrayMemoryError",
        "numpy._core._exceptions._ArrayMemoryError",
    };

    for (size_t i = 0; i < ARRAY_SIZE(types); i++)
        if (hint_is_about(facts, types[i]))
            return true;
    return facts->run->report->execution.out_of_memory && !facts->run->is_success;
}

char *hint_memory(const struct hint_facts *facts)
{
    const struct environment *larger = hint_find_larger(facts, hint_has_more_memory);
    AUTO_FREE char *amount = quantity_bytes(facts->environment->settings.limits.memory);
    AUTO_FREE char *more = larger ? quantity_bytes(larger->settings.limits.memory) : NULL;

    if (!hint_is_out_of_memory(facts))
        return NULL;
    if (larger)
        return memory_format("The limit of memory is %s; environment \"%s\" has %s.", amount,
                             larger->name, more);
    return memory_format("The limit of memory is %s. Work in smaller pieces: read files line by "
                         "line or in chunks, and keep only what is needed.",
                         amount);
}

static bool hint_has_more_time(const struct environment *a, const struct environment *b)
{
    return a->settings.max_timeout > b->settings.max_timeout;
}

/* The longer time that a call may ask for. Owned by the caller. */
static char *hint_more_time(const struct hint_facts *facts)
{
    const double most = facts->has_code_alone ? facts->run->setting->timeout
                                              : facts->environment->settings.max_timeout;
    const struct environment *larger = hint_find_larger(facts, hint_has_more_time);

    if (facts->run->setting->timeout < most)
        return memory_format("`timeout` may be up to %g.", most);
    if (larger)
        return memory_format("Environment \"%s\" allows a `timeout` of up to %g.", larger->name,
                             larger->settings.max_timeout);
    return memory_format(
        "%g seconds are the most there are: do the work in several calls, and keep "
        "what is done in files.",
        most);
}

char *hint_timeout(const struct hint_facts *facts)
{
    AUTO_FREE char *more = NULL;
    AUTO_FREE char *places = NULL;

    if (facts->run->report->end != RUN_TIMED_OUT)
        return NULL;
    more = hint_more_time(facts);
    places = hint_last_places(facts);
    return places ? memory_format("When the time was over, %s. %s", places, more) : STEAL_PTR(more);
}
