/* One script in a container of its own. */
#pragma once

#include "environments/docker/python.h"
#include "environments/execution.h"

struct docker_facts;
struct docker_site;

/* See environment_start. IMAGE and PYTHON are what has been prepared. */
struct execution *docker_run_start(struct docker_site *site, const struct docker_facts *image,
                                   const struct docker_python_facts *python,
                                   const struct execution_request *request,
                                   struct execution_listener *listener, struct error *err);
