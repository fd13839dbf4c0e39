/* Lines for environment_ops.reach: "LABEL: text". */
#pragma once

#include <jansson.h>

struct environment;
struct packages_definition;

void reach_add(json_t *lines, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds the packages of DEFINITION, if it has any. */
void reach_add_packages(json_t *lines, const struct packages_definition *definition);

/* Adds what scripts of a kind that runs them on this machine can reach of it. */
void reach_add_machine(json_t *lines, const struct environment *environment);
