/* The verdict of `pyexecd doctor`: ready; ready, but ...; or not ready, because .... */
#pragma once

#include <jansson.h>
#include <stdbool.h>

struct doctor_verdict {
    json_t *faults;   /* owned: an array of [NAME, WHY]: where no script can be run */
    json_t *lacks;    /* owned: an array of [TEXT, REMEDY or null]: what scripts go without */
    json_t *remedies; /* owned: a set of the remedies that are in it */
};

void doctor_verdict_init(struct doctor_verdict *verdict);
void doctor_verdict_deinit(struct doctor_verdict *verdict);

/* NAME, such as an environment, runs no script: WHY. */
void doctor_verdict_add_fault(struct doctor_verdict *verdict, const char *name, const char *why);

/* Runs go without something. REMEDY, a command to type, or NULL; it is told once. */
void doctor_verdict_add_lack(struct doctor_verdict *verdict, const char *text, const char *remedy);

bool doctor_verdict_is_bad(const struct doctor_verdict *verdict);
void doctor_verdict_print(const struct doctor_verdict *verdict);
