/* A directory of its own for each test, which is its state. */
#pragma once

/* Set-up: its real path, below TMPDIR. */
int own_directory_make(void **state);

/* Tear-down: it is removed with everything in it. */
int own_directory_remove(void **state);
