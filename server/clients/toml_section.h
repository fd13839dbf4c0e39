/* Puts an entry into TOML as a table of its own, and takes it out again. The rest of the text is
 * only read as far as it decides where tables begin. */
#pragma once

#include "server/clients/settings_entry.h"

/* As jsonc_put. The path has one name; the value is an object of strings, numbers and arrays of
 * strings. */
int toml_section_put(const char *text, const struct settings_entry *entry, char **ret_text,
                     struct error *err);

/* As jsonc_take; tables below that of the entry go with it. */
int toml_section_take(const char *text, const struct settings_entry *entry, char **ret_text,
                      struct error *err);
