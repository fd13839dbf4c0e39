/* The standard output and error of a zygote, which nobody reads. */
#pragma once

#include <stdbool.h>

/* In the zygote: whether there was any output, including the text that its streams still held. */
bool prints_were_made(void);

/* In a short-lived copy of the zygote: its output does not count. */
void prints_forget(void);
