/* The end of a script, as Py_FinalizeEx would make it for the script to see, without taking apart
 * what was there before the script: that costs two milliseconds, and the process ends anyway. */
#pragma once

struct python_object;

/* Before the first script: what is there now is not taken apart. Nor are modules that are KEPT from
 * scripts until these import them, a dict by name; PACKAGES, likewise, are those of which such a
 * module becomes an attribute then, and leaves that dict. Both are borrowed, or NULL. */
void script_end_prepare(struct python_object *kept, struct python_object *packages);

/* The script has ended with STATUS, 0 or 1. */
_Noreturn void script_end(int status);
