/* The nursery: the tree in which a zygote lives. */
#pragma once

struct runner_preparation;

/* In the runner, within the namespaces of a nursery: makes its pid 1 and its zygote, and ends. */
_Noreturn void nursery_found(struct runner_preparation *preparation);
