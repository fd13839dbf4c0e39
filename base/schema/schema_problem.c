/* Reporting problems, and giving up where there are too many of them or too much to do. */
#include "base/json.h"
#include "base/memory.h"
#include "base/schema/schema_node.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <string.h>

enum {
    PROBLEM_LIMIT = 100, /* more help nobody */
    QUOTED_BYTES = 60,
};

/* Owned by the caller. */
static char *pointer_to(const struct schema_place *place)
{
    AUTO_FREE char *parent = NULL;

    if (!place->parent)
        return memory_copy_string("");
    parent = pointer_to(place->parent);
    if (place->key)
        return json_pointer_append(parent, place->key);
    return memory_format("%s/%zu", parent, place->index);
}

static void schema_problem_report(struct schema_run *run, const struct schema_place *place,
                                  enum schema_problem_place kind, const char *message)
{
    AUTO_FREE char *pointer = pointer_to(place);

    run->problems++;
    run->report(run->data, kind, pointer, message);
}

bool schema_listens(const struct schema_run *run)
{
    return run->silent == 0 && !run->given_up && run->problems < PROBLEM_LIMIT;
}

__attribute__((format(printf, 4, 0))) static void
schema_problem_say(struct schema_run *run, const struct schema_place *place, bool is_at_key,
                   const char *format, va_list arguments)
{
    AUTO_FREE char *message = NULL;

    if (!schema_listens(run))
        return;
    message = memory_format_list(format, arguments);
    schema_problem_report(run, place, is_at_key ? SCHEMA_AT_KEY : SCHEMA_AT_VALUE, message);
}

bool schema_problem(struct schema_run *run, const struct schema_place *place, const char *format,
                    ...)
{
    va_list arguments;

    va_start(arguments, format);
    schema_problem_say(run, place, place->is_key, format, arguments);
    va_end(arguments);
    return false;
}

bool schema_problem_at_key(struct schema_run *run, const struct schema_place *place,
                           const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    schema_problem_say(run, place, place->key, format, arguments);
    va_end(arguments);
    return false;
}

bool schema_give_up(struct schema_run *run, const char *reason)
{
    if (!run->given_up)
        run->given_up = reason;
    return false;
}

bool schema_spend(struct schema_run *run, size_t steps)
{
    if (run->given_up)
        return false;
    if (steps >= run->budget)
        return schema_give_up(run, "takes too long to check");
    run->budget -= steps;
    return true;
}

char *schema_quote(const json_t *value)
{
    AUTO_FREE char *text = json_text(value);

    if (strlen(text) <= QUOTED_BYTES)
        return STEAL_PTR(text);
    return memory_format("%.*s...", (int)utf8_boundary_before(text, QUOTED_BYTES), text);
}

char *schema_quote_name(const char *name)
{
    AUTO_JSON json_t *string = json_string_repaired(name, strlen(name));

    return schema_quote(string);
}
