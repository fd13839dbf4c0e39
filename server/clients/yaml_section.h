/* Puts an entry into a block mapping of YAML, and takes it out again. */
#pragma once

#include "server/clients/settings_entry.h"

/* As jsonc_put. The path has one name; the value is an object. */
int yaml_section_put(const char *text, const struct settings_entry *entry, char **ret_text,
                     struct error *err);

/* As jsonc_take. */
int yaml_section_take(const char *text, const struct settings_entry *entry, char **ret_text,
                      struct error *err);
