#include "tests/unit/clients/entry_edit.h"

#include "base/cleanup.h"
#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static int apply(const struct entry_edit *edit, entry_edit_fn function, const char *text,
                 char **ret_text, struct error *err)
{
    AUTO_JSON json_t *value = json_loads(edit->value, JSON_DECODE_ANY, NULL);
    const struct settings_entry entry = {edit->path, edit->name, value};

    assert_non_null(value);
    return function(text, &entry, ret_text, err);
}

int entry_edit_put(const struct entry_edit *edit, const char *text, char **ret_text,
                   struct error *err)
{
    return apply(edit, edit->put, text, ret_text, err);
}

int entry_edit_take(const struct entry_edit *edit, const char *text, char **ret_text,
                    struct error *err)
{
    const struct settings_entry entry = {edit->path, edit->name, NULL};

    return edit->take(text, &entry, ret_text, err);
}

void entry_edit_check_put(const struct entry_edit *edit, const char *before, const char *after)
{
    AUTO_FREE char *with = NULL;
    AUTO_FREE char *without = NULL;
    struct error err = ERROR_INIT;

    assert_int_equal(entry_edit_put(edit, before, &with, &err), SETTINGS_CHANGED);
    assert_string_equal(with, after);
    assert_int_equal(apply(edit, edit->take, with, &without, &err), SETTINGS_CHANGED);
    assert_string_equal(without, before);
}

void entry_edit_check_take(const struct entry_edit *edit, const char *before, const char *after)
{
    AUTO_FREE char *without = NULL;
    struct error err = ERROR_INIT;

    assert_int_equal(entry_edit_take(edit, before, &without, &err), SETTINGS_CHANGED);
    assert_string_equal(without, after);
}

void entry_edit_check_fault(const struct entry_edit *edit, const char *text, const char *message)
{
    AUTO_FREE char *made = NULL;
    struct error err = ERROR_INIT;

    assert_int_equal(entry_edit_put(edit, text, &made, &err), -1);
    assert_memory_equal(err.message, message, strlen(message));
    assert_null(made);
}
