/* Guesses the paths that a program, perhaps a Python, needs to read, for the sandbox in which it is
 * asked. Its answer then says which directories it really uses (python_needs.h). */
#pragma once

/* Directories: the places of the library of a Python at PROGRAM, and of the Python that its virtual
 * environment was made from, and the places where machines have whole collections of programs.
 * NULL-terminated, for memory_free_strings. */
char **python_guess_places(const char *program);

/* Files beside them: programs that PROGRAM, a script that starts a Python, names, and settings of
 * version managers. NULL-terminated, for memory_free_strings. */
char **python_guess_files(const char *program);

enum { PYTHON_GUESS_NAMED_MOST = 64 };

/* The paths that TEXT names, such as a script or the settings of an installer: they mean files of
 * this machine. Each word that is an absolute path, or the file: URL of a path; words end at
 * blanks, quotes and separators of lists. NULL-terminated, for memory_free_strings. */
char **python_guess_named(const char *text);
