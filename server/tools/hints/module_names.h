/* What the modules of Python are called where one gets them. */
#pragma once

#include <stddef.h>

/* What is known about the module NAME; all NULL: nothing. */
struct module_name {
    const char *package; /* that has it; NULL: none */
    const char *also;    /* another one that has it; or NULL */
    const char *instead; /* a sentence about what to use, where no package is to be installed */
};

struct module_name module_name_find(const char *name);
