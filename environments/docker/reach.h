/* Describes the files, networks and devices that scripts in a container may reach. */
#pragma once

#include <jansson.h>

/* For environment_ops.reach: lines about DEFINITION. New reference. */
json_t *docker_reach(const json_t *definition);
