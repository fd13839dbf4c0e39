/* The part of `pyexecd doctor` about the Pythons that venvs are made from. */
#pragma once

#include <ev.h>

struct process_host;

/* Runs each Python that `python_version` would look at, one after the other, for a few seconds at
 * most in all, in a sandbox where this machine has one. STATE is the state directory. */
void doctor_venv_print(struct ev_loop *loop, struct process_host *host, const char *state);
