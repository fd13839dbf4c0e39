/* The file with the settings of a client: read, changed by one entry, and written back whole. */
#pragma once

#include "server/clients/settings_entry.h"

#include <stdbool.h>

struct settings_format {
    int (*put)(const char *text, const struct settings_entry *entry, char **ret_text,
               struct error *err);
    int (*take)(const char *text, const struct settings_entry *entry, char **ret_text,
                struct error *err);
};

enum settings_change {
    SETTINGS_PUT,
    SETTINGS_TAKE,
};

struct settings_edit {
    const char *path; /* borrowed; a link is followed */
    const struct settings_format *format;
    struct settings_entry entry;
    enum settings_change change;
    bool is_trial; /* write nothing */
};

/* Makes the change. A file that is there is replaced at once and keeps its mode and owner;
 * PATH.pyexecd-backup is a copy of the old file. Only its owner can access a new file. Returns an
 * enum settings_outcome, or -1 with ERR and nothing changed: ERROR_CONFIG "PATH:LINE:COLUMN: ..."
 * for settings that cannot be read. */
int settings_file_edit(const struct settings_edit *edit, struct error *err);

/* True when ENTRY is in the file at PATH. */
bool settings_file_has(const char *path, const struct settings_format *format,
                       const struct settings_entry *entry);
