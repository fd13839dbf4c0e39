/* The rules for the files of a sandbox, by Landlock. */
#pragma once

struct program;
struct runner_preparation;

/* In the supervisor, in the root of its programs: makes the rules for files that all programs have.
 * Returns a descriptor. -1 with errno set. */
int files_prepare(const struct runner_preparation *preparation);

/* In the program's process: from now on it can use the files that its sandbox shows, and no others.
 * -1 with errno set. */
int files_restrict(const struct runner_preparation *preparation, const struct program *program);
