/* The part of `pyexecd doctor` about the other servers behind the balancer. */
#pragma once

#include <ev.h>

struct config;
struct doctor_verdict;
struct interruption;

/* Everything is borrowed. */
struct doctor_replicas {
    struct ev_loop *loop;
    struct config *config;             /* gets complaints about its key */
    struct doctor_verdict *verdict;    /* gets the lacks */
    struct interruption *interruption; /* may end the wait for an answer */
};

/* Asks each of them for its key, version and clock, and prints what differs from ours. */
void doctor_replicas_print(const struct doctor_replicas *settings);
