/* Lines for environment_ops.reach: "LABEL: text". */
#pragma once

#include <jansson.h>

void reach_add(json_t *lines, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What a definition wants installed, if anything. */
void reach_add_packages(json_t *lines, const json_t *definition);

/* What a script of this machine reaches, which nothing keeps it from. */
void reach_add_machine(json_t *lines);
