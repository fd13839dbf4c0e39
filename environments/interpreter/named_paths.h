/* The paths that a text names, such as a script or the settings of an installer: whoever wrote it
 * means files of this machine by them. */
#pragma once

enum { NAMED_PATHS_MOST = 64 };

/* Each word of TEXT that is an absolute path, or a file: URL of one; words end at blanks, quotes
 * and what stands between the items of a list. NULL-terminated, for memory_free_strings. */
char **named_paths_find(const char *text);
