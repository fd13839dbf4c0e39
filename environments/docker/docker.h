/* The environment "docker": scripts run in containers of a Docker engine, or another engine with
 * its API.
 *
 *     docker_definition the keys of its definition
 *     docker_site       whose containers, of which engine
 *     docker_image      the image, by docker_pull or docker_build
 *     docker_packages   a derived image with packages in it, by a pip_command
 *     docker_python     what runs scripts there
 *     docker_run        one script in a container of its own
 *     kept_pool         the containers that are kept, each a kept_container for many scripts
 *     docker_sweep      what an earlier server has left
 *     docker_container  what containers are made from, docker_end how they have ended */
#pragma once

#include "environments/environment.h"

extern const struct environment_kind docker_kind;
