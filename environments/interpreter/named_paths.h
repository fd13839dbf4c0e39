/* The paths that a text names, such as a script or the settings of an installer: they mean files of
 * this machine. */
#pragma once

enum { NAMED_PATHS_MOST = 64 };

/* Each word of TEXT that is an absolute path, or the file: URL of a path; words end at blanks,
 * quotes and separators of lists. NULL-terminated, for memory_free_strings. */
char **named_paths_find(const char *text);
