/* What a zygote has written to its standard output and error: nobody reads it. */
#pragma once

#include <stdbool.h>

/* In the zygote: whether there was anything, what its streams still held included. */
bool prints_were_made(void);

/* In a process that it has made for a moment: what that writes does not count. */
void prints_forget(void);
