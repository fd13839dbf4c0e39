#include "server/tools/hints/hints.h"

#include "base/json.h"
#include "base/memory.h"

#include <string.h>

static char *hint_bare_expression(const struct hint_facts *facts)
{
    const json_t *structured = facts->structured;

    if (json_string_length(json_object_get(structured, "stdout")) ||
        json_string_length(json_object_get(structured, "stderr")) ||
        !json_is_true(json_object_get(structured, "success")))
        return NULL;
    return memory_copy_string("The value of a bare expression on the last line is not shown; if "
                              "that was what you wanted to see, print() it.");
}

/* Python's words, by errno, when a script was about to change the file that it runs from. */
static char *hint_own_file(const struct hint_facts *facts)
{
    const char *errors = json_object_get_string(facts->structured, "stderr");

    if (!errors || !strstr(errors, "script.py'") ||
        (!strstr(errors, "[Errno 16] ") && !strstr(errors, "[Errno 30] ")))
        return NULL;
    return memory_copy_string("script.py is the program that runs: it cannot be changed, renamed "
                              "or removed. Use another name, and leave it out when you clean up.");
}

static const hint_fn hint_table[] = {
    hint_bare_expression,
    hint_own_file,
};

json_t *hints_find(const struct hint_facts *facts)
{
    json_t *said = json_array();

    for (size_t i = 0; i < ARRAY_SIZE(hint_table); i++) {
        AUTO_FREE char *line = hint_table[i](facts);

        if (line)
            json_array_append_new(said, json_string_format("%s", line));
    }
    return said;
}
