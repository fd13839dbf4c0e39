/* The answer of one run to its call: text for a model, and an object for programs. */
#pragma once

#include <jansson.h>
#include <stddef.h>

struct code_cleaning;
struct invocation;
struct run_facts;

/* The source of a run, and the number of characters of its output that fit into the text. */
struct run_source {
    const struct code_cleaning *code; /* borrowed: what the model wrote in Python, as it ran */
    size_t room;
};

/* All owned. */
struct run_answer {
    json_t *structured; /* fits schemas/run_python.output.json */
    json_t *text;       /* a string */
    json_t *pictures;   /* see run_pictures.h; or NULL */
};

/* The answer to the run of SOURCE for INVOCATION, which ended as FACTS say. Adds the files with cut
 * output to FACTS. Later calls know the names that SOURCE defines. */
void run_answer_init(struct run_answer *answer, struct invocation *invocation,
                     struct run_facts *facts, const struct run_source *source);
void run_answer_deinit(struct run_answer *answer);
