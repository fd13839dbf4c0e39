/* What a Python has said of itself as scripts have it: its version and the packages that are
 * installed for it.
 *
 * Scripts may have written what it reads, so the answer is hostile: a name has to look like one,
 * and only the short ones are told to models. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct python_facts {
    char *version;   /* owned; "3.11.2" */
    char **packages; /* owned; normalized (package_name.h); those that data work uses come first */
    size_t count;
    size_t told; /* the first ones, which a model should hear of */
};

/* What ANSWER says (see python_question.h). NULL when it is invalid. Owned by the caller. */
struct python_facts *python_facts_read(const json_t *answer);

/* Harmless for NULL. */
void python_facts_free(struct python_facts *facts);

/* True if PACKAGE, a normalized name, is installed. */
bool python_facts_have(const struct python_facts *facts, const char *package);
