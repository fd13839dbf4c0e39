/* The programs that a call of run_many brings: one for each of its inputs, or all of its own. */
#pragma once

#include "base/error.h"
#include "server/tools/code/code_cleaning.h"

#include <jansson.h>
#include <stddef.h>

/* Everything but the cleaned code is borrowed from the arguments. */
struct many_programs {
    struct code_cleaning code; /* the program of all inputs */
    const json_t *inputs;      /* NULL: ... */
    const json_t *programs;    /* ... array of strings */
    size_t count;
};

/* Reads PROGRAMS from ARGUMENTS, which fit the schema. -1 with ERROR_INVALID_ARGUMENTS; PROGRAMS is
 * to be released in either case. */
int many_programs_read(struct many_programs *programs, const json_t *arguments, struct error *err);
void many_programs_deinit(struct many_programs *programs);

/* The program of the run INDEX, *RET_LENGTH bytes and a NUL, owned by the caller. */
char *many_programs_make(const struct many_programs *programs, size_t index, size_t *ret_length);

/* All of them for a person. Code is indented, so that it cannot look like an input or another
 * program. Owned by the caller. */
char *many_programs_text(const struct many_programs *programs);
