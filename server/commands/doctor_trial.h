/* A trial of `pyexecd doctor` in an environment: how its run ended. */
#pragma once

#include "environments/execution.h"

#include <stdbool.h>

struct run_facts;

struct doctor_trial {
    char *problem;                  /* owned: why no script can be run; NULL: it can */
    bool has_ended;                 /* else there was no run, and there is only the problem */
    bool has_started;               /* else the receipt has the layers that were planned */
    struct process_receipt receipt; /* its lists: references */
    char *version;                  /* owned: of the Python; NULL: it is not known */
    double start_seconds;
    double run_seconds;
    bool is_warm; /* its Python had been started ahead */
};

/* Notes the end of the run that FACTS are about. */
void doctor_trial_note(struct doctor_trial *trial, const struct run_facts *facts);
void doctor_trial_deinit(struct doctor_trial *trial);
