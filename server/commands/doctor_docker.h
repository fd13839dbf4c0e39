/* The part of `pyexecd doctor` about Docker engines. */
#pragma once

#include <jansson.h>

/* Asks the engine of each docker environment in DEFINITIONS (by name). Without such an environment
 * it asks the engine that the docker command would use and prints nothing if that does not answer.
 */
void doctor_docker_print(const json_t *definitions);
