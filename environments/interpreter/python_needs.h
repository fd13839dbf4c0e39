/* Finds the paths of this machine that a Python needs to read, for a sandbox that shows nothing
 * else.
 *
 *     the directories that it says it uses     its prefixes, its library, libraries that it loads
 *     + the program itself and, of a venv, the venv
 *     -> every path, walked as the kernel walks it: the links on the way, and the file at its end
 *     -> needed_paths.h: the paths that are shown
 *
 * Links are shown as links. A venv of uv in a project, for example, needs
 *     /home/alice/project/.venv
 *     /home/alice/.local/share/uv/python/cpython-3.12-linux-x86_64-gnu      a link
 *     /home/alice/.local/share/uv/python/cpython-3.12.11-linux-x86_64-gnu
 *
 * Paths that a .pth file or a sitecustomize adds to sys.path, such as a package that was installed
 * as editable, are left out, since scripts without a sandbox could write these files. So are the
 * packages of a user (~/.local/lib/python3.11/site-packages): HOME of a run is its working
 * directory, so that scripts without a sandbox do not import them either. */
#pragma once

#include <jansson.h>

enum { PYTHON_DIRECTORIES_MOST = 64 }; /* that an interpreter says it uses */

/* A sorted, NULL-terminated list for memory_free_strings: real directories; links, which are to be
 * made anew; and files whose directory is not to be shown. EXECUTABLE is the absolute path that is
 * run, DIRECTORIES (NULL-terminated, or NULL) the paths that it says it uses, which are not
 * believed. STATE is the state directory, or NULL. */
char **python_needs_find(const char *executable, const char *const *directories, const char *state);

/* The same, and the venv of PARENT, the Python that the venv of EXECUTABLE was made from; or NULL.
 */
char **python_needs_find_with_parent(const char *executable, const char *parent,
                                     const char *const *directories, const char *state);

/* The list for PATH, a file or a directory that the operator has named: all of it is shown. Empty
 * if PATH is missing. */
char **python_needs_follow(const char *path);

/* The links on the way of PATH and where it leads, missing or not, for memory_free_strings. */
char **python_needs_way(const char *path);

/* What the Python at PROGRAM, an absolute path, is made of, as far as this can be known without
 * running it, for memory_free_strings: the program, the venv that it lies in, the Python that the
 * venv was made from, and where that looks for its library. Links are listed with what they lead
 * to, and some of the paths may be missing. */
char **python_needs_guess(const char *program);

/* How DIRECTORIES are kept in a file. New reference; NULL for NULL. */
json_t *python_directories_to_json(char *const *directories);

/* For memory_free_strings. NULL when JSON is no list of strings, or too long. */
char **python_directories_from_json(const json_t *json);
