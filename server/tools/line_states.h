/* Text whose lines are written over: after a carriage return a line has another state. A person at
 * a terminal has seen all of them; a progress bar has thousands.
 *
 * Each state is a line of the text, until those that are alike (the letters are the same, or both
 * show progress) take too much room: then the newest is left of them, and a line that says how many
 * are not shown. Nothing else is ever lost. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* States of a line that are alike, one after the other. */
struct state_group {
    size_t start;    /* where the first state begins, of those still there */
    size_t newest;   /* where the newest begins */
    size_t bytes;    /* of all before the newest */
    size_t left_out; /* how many of these are not there any more */
    bool is_alike;   /* there are at least two */
    bool is_telling; /* a state has a word or number of its own: the line is no progress bar */
};

struct line_states {
    char *bytes; /* borrowed: room for the text, and a byte more for each return */
    size_t length;
    size_t state;     /* where the current state begins */
    bool is_returned; /* the next character begins another state */
    bool has_earlier; /* the line has an earlier state, which GROUP has */
    struct state_group group;
    size_t untold; /* states that are left out and are no progress bar's */
};

/* Appends TEXT, which has no line end, to the current state. */
void line_states_put(struct line_states *lines, const char *text, size_t length);

/* A carriage return: what comes next writes over the line. */
void line_states_return(struct line_states *lines);

/* COUNT backspaces. As many as the state has characters begin another state. */
void line_states_back(struct line_states *lines, size_t count);

/* Ends the line. */
void line_states_end(struct line_states *lines);

/* Ends the text, which may be in a line. */
void line_states_finish(struct line_states *lines);
