/* The end of a script, as the script sees it with Py_FinalizeEx, but without taking apart the
 * modules that were there before the script: that costs two milliseconds, and the process ends
 * anyway. */
#pragma once

struct python_object;

/* Before the first script: modules that are loaded now are not taken apart. Nor are the modules in
 * KEPT, a dict by name, which scripts do not see until they import them. PACKAGES, a dict by the
 * same names, has packages: an imported module becomes an attribute of its package, which then
 * leaves the dict. SHOW_KEPT, a callable, prepares the modules in KEPT for Python's own end, which
 * takes all modules apart. All are borrowed; either all or none are NULL. */
void script_end_prepare(struct python_object *kept, struct python_object *packages,
                        struct python_object *show_kept);

/* REFERENCE, taken, may refer to modules: it is given up before Python's own end. */
void script_end_give_up(struct python_object *reference);

/* The script has ended, and the process ends with STATUS. */
_Noreturn void script_end(int status);

/* The script has not handled a KeyboardInterrupt: the process ends by the signal. */
_Noreturn void script_end_interrupted(void);
