/* The part of `pyexecd doctor` about nodes. */
#pragma once

#include <ev.h>
#include <jansson.h>

struct doctor_verdict;
struct interruption;
struct nodes;

/* Everything is borrowed. */
struct doctor_nodes {
    struct ev_loop *loop;
    struct nodes *nodes;
    const json_t *definitions;         /* as a configuration has them; or NULL */
    struct doctor_verdict *verdict;    /* gets the faults */
    struct interruption *interruption; /* may end the wait for a node */
};

/* Starts a node of each definition, or waits for one, and prints what it costs. The environments
 * that are on it say what holds their scripts, and which Python they have. */
void doctor_nodes_print(const struct doctor_nodes *settings);

/* The command that names the lacks of a node of DEFINITION: its launcher with `doctor`. NULL where
 * it does not end with a command of ours. Owned by the caller. */
char *doctor_nodes_find_remedy(const json_t *definition);
