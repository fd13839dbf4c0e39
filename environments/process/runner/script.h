/* The script of a tree: a file in memory over script.py. */
#pragma once

struct program;
struct runner_preparation;

/* In the supervisor, within a mount namespace: makes the file for the program's script. */
void script_prepare(struct runner_preparation *preparation);

/* In the program's process: makes the code of PROGRAM, or nothing yet, appear as its script, for
 * this tree alone. -1 with errno set. */
int script_lay_over(const struct runner_preparation *preparation, const struct program *program);

/* In the supervisor: fills the script of PROGRAM, which was laid over without code, with CODE. -1
 * with errno set; ESTALE: the script is at its place no more. */
int script_complete(const struct runner_preparation *preparation, const struct program *program,
                    int code);
