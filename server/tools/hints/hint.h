/* A hint: one line for a model about what really happened, with what to do next.
 *
 * A hint is a function of the facts. It answers only when it is certain; one that might be wrong is
 * not said. A new one is a function, a line in the table of hints.c, and a case in the unit test
 * where it applies and one where it only nearly does. */
#pragma once

#include <jansson.h>
#include <stddef.h>

struct caller_rules;
struct environment;

/* What a hint may know. Everything is borrowed. */
struct hint_facts {
    const json_t *structured; /* the result; see schemas/run_python.output.json */
    const char *code;         /* NUL-terminated, as the caller wrote it */
    size_t code_length;

    const struct environment *environment;    /* where it ran */
    const struct environment *const *offered; /* NULL-terminated: what the caller may name */
    const struct caller_rules *rules;         /* NULL: his calls may define no environment */
};

/* The line without its newline, owned by the caller; NULL: it does not apply. */
typedef char *(*hint_fn)(const struct hint_facts *facts);
