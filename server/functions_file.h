/* The functions that the operator gives to the scripts of an environment (`functions: FILE.py`):
 * they import them from the module `functions`. The file says in a block of PEP 723 which packages
 * it needs; they are installed as the environment's own are. */
#pragma once

#include "base/error.h"

#include <jansson.h>

/* DEFINITION, of an environment, with those packages, too: new reference. *RET is the text of the
 * file, owned by the caller; NULL: DEFINITION names none. NULL with ERR when it cannot be used. */
json_t *functions_file_read(const json_t *definition, char **ret, struct error *err);
