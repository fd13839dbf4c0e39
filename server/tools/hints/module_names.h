/* The packages that have the modules of Python code. */
#pragma once

#include <stddef.h>

/* Facts about the module NAME; all NULL: it is not known. */
struct module_name {
    const char *package; /* the package that has it; NULL: none */
    const char *also;    /* another package that has it; or NULL */
    const char *instead; /* advice on a replacement, if no package is to be installed */
};

struct module_name module_name_find(const char *name);
