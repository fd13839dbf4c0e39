/* What `pyexecd doctor` says about Docker engines. */
#pragma once

#include <jansson.h>

/* Looks at the engines of the docker environments among DEFINITIONS, by name; where there are none,
 * at the one that the docker command would find, and says nothing when that does not answer. */
void doctor_docker_print(const json_t *definitions);
