/* What is written to stderr meanwhile. */
#pragma once

#include <stdio.h>

struct listening {
    FILE *file; /* owned: where it goes */
    int before; /* owned: stderr itself */
};

struct listening listen_to_stderr(void);

/* Ends it; what was written is EXPECTED. */
void assert_heard(struct listening *listening, const char *expected);
