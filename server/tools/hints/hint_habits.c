#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"
#include "server/tools/hints/hint_table.h"

#include <signal.h>
#include <string.h>

char *hint_undefined_name(const struct hint_facts *facts)
{
    AUTO_FREE char *name =
        hint_is_about(facts, "NameError") ? hint_quoted(facts->failure.message) : NULL;

    if (!name || !json_object_get(facts->earlier, name))
        return NULL;
    return memory_format(
        "An earlier call has defined \"%s\", but every call is a new program: only "
        "files stay. Define it again, or save it to a file in one call and load it "
        "in the next.",
        name);
}

/* A name that only IPython defines. */
char *hint_notebook(const struct hint_facts *facts)
{
    AUTO_FREE char *name =
        hint_is_about(facts, "NameError") ? hint_quoted(facts->failure.message) : NULL;

    if (!name || (strcmp(name, "display") != 0 && strcmp(name, "get_ipython") != 0) ||
        json_object_get(facts->earlier, name))
        return NULL;
    return memory_format("%s() is of notebooks, and this is a program: use print(), or write a "
                         "file.",
                         name);
}

/* A signal that ends a crash in a C library, but no exception of Python. */
char *hint_crash(const struct hint_facts *facts)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

    for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
        if (facts->run->returncode == -signals[i])
            return memory_copy_string("A crash, not an exception: begin the code with `import "
                                      "faulthandler; faulthandler.enable()` to see the line.");
    return NULL;
}

char *hint_left_running(const struct hint_facts *facts)
{
    const unsigned count = facts->run->report->execution.leftovers;

    if (count == 0 || !facts->run->is_success)
        return NULL;
    return memory_format("When the script had ended, %u process%s of it still ran and %s ended: "
                         "nothing runs on after a call. "
                         "Use what you start in the same script, and wait for it.",
                         count, count == 1 ? "" : "es", count == 1 ? "was" : "were");
}
