/* The root directory of a sandbox. */
#pragma once

struct program;
struct runner_preparation;

/* In the supervisor, within namespaces: makes the root of a sandbox and enters it. The machine's
 * is still there, at a place that only we know. -1 with errno set. */
int root_prepare(struct runner_preparation *preparation);

/* Puts PATHS into the order in which they are shown, so that none hides another. */
void root_sort(char **paths);

/* In the program's process: shows the paths of PROGRAM at their places and hides the machine's
 * root; a zygote's current directory is its reserve afterwards. -1 with errno set; *RET_SUBJECT
 * (borrowed) is the path that failed. */
int root_show(const struct runner_preparation *preparation, const struct program *program,
              const char **ret_subject);
