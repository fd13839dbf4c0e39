/* What a program needs to read that is perhaps a Python, guessed from where it is: for the sandbox
 * in which it is asked. The answer then says what it really uses (python_needs.h). */
#pragma once

/* Directories: where the library of a Python at PROGRAM would be, also of the one that its virtual
 * environment was made from, and where machines have whole collections of programs.
 * NULL-terminated, for memory_free_strings. */
char **python_guess_places(const char *program);

/* Files beside them, likewise: a script that starts a Python names programs, and those of version
 * managers read settings. */
char **python_guess_files(const char *program);
