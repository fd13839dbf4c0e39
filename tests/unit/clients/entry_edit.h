/* Edits of a settings file: an entry is put into its text and taken out again. */
#pragma once

#include "server/clients/settings_entry.h"

typedef int (*entry_edit_fn)(const char *text, const struct settings_entry *entry, char **ret_text,
                             struct error *err);

struct entry_edit {
    entry_edit_fn put;
    entry_edit_fn take;
    const char *const *path;
    const char *name;
    const char *value; /* JSON */
};

/* What `put` and `take` return. That which is taken has no value. */
int entry_edit_put(const struct entry_edit *edit, const char *text, char **ret_text,
                   struct error *err);
int entry_edit_take(const struct entry_edit *edit, const char *text, char **ret_text,
                    struct error *err);

/* Fails unless BEFORE becomes AFTER, and BEFORE again when the same entry is taken out. */
void entry_edit_check_put(const struct entry_edit *edit, const char *before, const char *after);
void entry_edit_check_take(const struct entry_edit *edit, const char *before, const char *after);

/* Fails unless nothing is put into TEXT, and the reason begins with MESSAGE. */
void entry_edit_check_fault(const struct entry_edit *edit, const char *text, const char *message);
