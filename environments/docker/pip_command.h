/* How pip is run in the container that packages are installed in. */
#pragma once

#include <jansson.h>

struct docker_site;

/* The places in the container of the files that pip reads. */
#define PIP_COMMAND_WHEELS       "/run/pyexecd-wheels"
#define PIP_COMMAND_REQUIREMENTS "/run/pyexecd-requirements.txt"

/* The body of the request to create the exec: the program PYTHON runs pip, for at most SECONDS. New
 * reference. */
json_t *pip_command_describe(const struct docker_site *site, const char *python, double seconds);
