/* A scratch directory for a test. */
#pragma once

/* A new directory under /tmp; owned by the caller. */
char *scratch_new(void);

/* Removes it with everything in it, and frees the path. */
void scratch_free(char *scratch);

/* Puts TEXT into the file at PATH. */
void write_text(const char *path, const char *text);

/* The text of the file, or NULL. Owned by the caller. */
char *read_text(const char *path);

/* Opens the directory PATH. */
int open_directory(const char *path);

/* How many entries the directory PATH has; -1: there is none. */
int count_entries(const char *path);

/* Runs the shell on COMMAND in the directory PATH. */
void shell(const char *path, const char *command);
