/* A kernel without openat2(2), as some filters of system calls make it. */
#pragma once

/* The setup of a group of tests: from now on this process and its children have no openat2(2). */
int openat2_take_away(void **state);
