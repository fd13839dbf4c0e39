/* Describes the files, networks and devices that scripts in a container may reach. */
#pragma once

#include <jansson.h>

struct docker_definition;

/* For environment_ops.reach: lines about DEFINITION. New reference. */
json_t *docker_reach(const struct docker_definition *definition);
