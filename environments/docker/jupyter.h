/* The mounts of a container for a session in a Jupyter kernel: pyexecd-jupyter, which is not
 * static, and the folder of this machine's libraries, with their loader. So no image needs these
 * files, or the same C library. */
#pragma once

#include "base/error.h"

#include <jansson.h>

/* Adds the mounts for PROGRAM, the path of pyexecd-jupyter. -1 with ERR. */
int docker_jupyter_add_mounts(json_t *mounts, const char *program, struct error *err);

/* The command, in the container, for cells in KERNEL of PYTHON. For memory_free_strings. */
char **docker_jupyter_command(const char *python, const char *kernel);
