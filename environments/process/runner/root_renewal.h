/* The root of a worker. */
#pragma once

struct program;

/* In the supervisor of a worker of PROGRAM, within namespaces of its own and in its reserve: makes
 * its own root, as LAYERS have it, from its zygote's. Does not return at a failure. */
void root_renew(const struct program *program, unsigned layers);
