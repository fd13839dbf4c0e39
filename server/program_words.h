/* Which words of a command, and which variables, name code rather than data.
 *
 * A server of tools may well be given a place where scripts write, such as the files that it is to
 * read: data. Code there would be the scripts'. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The path of the code that WORDS[I] names, which is not the program itself: a script, a program,
 * or the folder of a package. FOLDER: where relative paths begin. Owned by the caller; NULL: it
 * names none. */
char *program_words_find_code(const char *const *words, size_t i, const char *folder);

/* True for PATH, PYTHONPATH and the like: folders and files in which programs look for code. */
bool program_words_is_code_variable(const char *name);
