/* The script, run as `python script.py` runs it.
 *
 * A function of Python's does the same, but handles SystemExit itself: it takes the whole
 * interpreter apart. Here each end of the script comes back, and leads to script_end.h. */
#pragma once

/* Once, before the first script. */
void script_run_prepare(void);

/* Runs the file PATH as the module __main__, and ends the process. */
_Noreturn void script_run(const char *path);
