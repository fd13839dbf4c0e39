/* The preparation of a tree, before any program is known. */
#pragma once

struct runner_preparation;

/* Enters cgroups and namespaces; does not return when a layer cannot be had. */
void prepare_tree(struct runner_preparation *preparation);

/* In the supervisor: mounts its own /proc, and puts the kernel's files and calls out of reach. */
void prepare_supervisor(struct runner_preparation *preparation);
