/* Puts an entry into JSON with comments, and takes it out again. */
#pragma once

#include "server/clients/settings_entry.h"

/* TEXT with ENTRY in it, or with its value in place of the present value. TEXT is NULL for a file
 * that does not exist. */
int jsonc_put(const char *text, const struct settings_entry *entry, char **ret_text,
              struct error *err);

/* TEXT without ENTRY, whose value counts only as an element, and without the containers that were
 * made for it. */
int jsonc_take(const char *text, const struct settings_entry *entry, char **ret_text,
               struct error *err);
