/* Reporting problems, and giving up where there are too many of them or too much to do; and the
 * problems of a value in one error. */
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

void misfits_add(struct misfits *misfits, const char *misfit)
{
    AUTO_FREE char *text = memory_format("%s%s", misfits->length ? "; " : "", misfit);
    size_t room = sizeof misfits->text - misfits->length;
    size_t length = strlen(text);

    if (length > room && misfits->length) {
        misfits->unnamed++;
        return;
    }
    if (length > room)
        length = utf8_boundary_before(text, room);
    memcpy(misfits->text + misfits->length, text, length);
    misfits->length += length;
}

/* "timeout must be number, not string", "timeot: unknown key ...". */
void misfits_on_problem(void *data, enum schema_problem_place place, const char *pointer,
                        const char *message)
{
    struct misfits *misfits = data;
    AUTO_FREE char *path = json_pointer_dotted(pointer);
    AUTO_FREE char *misfit = *path ? memory_format("%s%s%s %s", misfits->prefix, path,
                                                   place == SCHEMA_AT_KEY ? ":" : "", message)
                                   : memory_format("%s %s", misfits->whole, message);

    misfits_add(misfits, misfit);
}

int misfits_tell(const struct misfits *misfits, const char *introduction, struct error *err)
{
    if (misfits->length == 0)
        return 0;
    if (misfits->unnamed)
        return error_set(err, ERROR_INVALID_ARGUMENTS, "%s: %.*s; and %zu more problems",
                         introduction, (int)misfits->length, misfits->text, misfits->unnamed);
    return error_set(err, ERROR_INVALID_ARGUMENTS, "%s: %.*s", introduction, (int)misfits->length,
                     misfits->text);
}
