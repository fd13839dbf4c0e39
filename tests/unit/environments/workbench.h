/* What tests of single parts of a preparation need: a loop, a real process host, and a scratch
 * directory. */
#pragma once

#include "environments/process/host.h"

#include <ev.h>
#include <stdbool.h>

struct workbench {
    struct ev_loop *loop;
    struct process_host *host;
    char *scratch; /* owned */
};

/* For cmocka: *STATE is a struct workbench. */
int workbench_setup(void **state);
int workbench_teardown(void **state);

/* Runs the loop until *DONE; fails the test after a minute. */
void workbench_wait(struct workbench *bench, const bool *done);

/* An executable file NAME with TEXT in the scratch directory; its path, owned by the caller. */
char *workbench_program(struct workbench *bench, const char *name, const char *text);
