/* The files that a command of a server of tools executes: its program, the interpreter that the
 * first line of a program names, the program behind `env` and the like, and the script that an
 * interpreter is given.
 *
 * It begins in an empty folder, so that only absolute paths lead to a script. Other words are data,
 * or the operator's care. */
#pragma once

#include "server/origins.h"

#include <stddef.h>

struct script_places;

struct command_file {
    enum origin_kind kind;
    size_t word; /* that names it */
    char *path;  /* owned */
};

struct command_files {
    struct command_file *all; /* owned */
    size_t count;
};

/* WORDS, NULL-terminated, are of server_command_read(), at least one. No program is looked for in
 * PLACES. */
void command_files_find(struct command_files *ret, char *const *words,
                        const struct script_places *places);
void command_files_deinit(struct command_files *files);
