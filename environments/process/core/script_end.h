/* The end of a script, as Py_FinalizeEx would make it for the script to see, without taking apart
 * what was there before the script: that costs two milliseconds, and the process ends anyway. */
#pragma once

/* Before the first script: what is there now is not taken apart. */
void script_end_prepare(void);

/* The script has ended with STATUS, 0 or 1. */
_Noreturn void script_end(int status);
