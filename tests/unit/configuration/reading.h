/* Configurations and what is wrong with them. */
#pragma once

#include <stddef.h>

/* How the error of a value begins that should be an object. */
#define MAPPING "must be a mapping: {NAME: value}, or lines of NAME: value, not "

/* A configuration and the errors in it, without "c.yaml:" in front of each line. */
struct reading {
    const char *text;
    const char *errors;
};

/* What is wrong with TEXT. Owned by the caller. */
char *errors_of(const char *text);

/* Fails unless each of the COUNT texts has just its errors; shows each that has not. */
void check_readings(const struct reading *readings, size_t count);
