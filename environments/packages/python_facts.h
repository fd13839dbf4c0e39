/* The facts that a Python, run as for scripts, has reported: its version and the packages that are
 * installed for it.
 *
 * Scripts may have written files that it reads, so the answer is hostile: names are checked, and
 * models hear only of short names. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct python_facts {
    char *version;   /* owned; "3.11.2" */
    char **packages; /* owned; by requirement_name(); packages for data work come first */
    size_t count;
    size_t told; /* the number of first packages that a model should hear of */
};

/* Reads ANSWER (see python_question.h). NULL when it is invalid. Owned by the caller. */
struct python_facts *python_facts_read(const json_t *answer);

/* Harmless for NULL. */
void python_facts_free(struct python_facts *facts);

/* True if PACKAGE, a normalized name, is installed. */
bool python_facts_have(const struct python_facts *facts, const char *package);
