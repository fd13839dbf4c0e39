/* State machines: each has a table of its states, and one function that changes its state. */
#pragma once

/* A row of the table that an enum of states indexes. */
struct state {
    const char *name;
    unsigned next; /* the states that may follow this one, as bits */
};

/* Asserts that STATES lets TO follow FROM, and logs the step at debug level. FORMAT says whose step
 * it is ("run 3"): the line is "run 3: waiting -> preparing". */
void state_change(const struct state *states, unsigned from, unsigned to, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
