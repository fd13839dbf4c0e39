#include "server/commands/doctor_trial.h"

#include "base/memory.h"
#include "server/tools/hints/run_facts.h"

#include <stdlib.h>

void doctor_trial_note(struct doctor_trial *trial, const struct run_facts *facts)
{
    const struct process_end *end = &facts->report->execution;
    const char *errors = json_string_value(facts->streams[PROCESS_STDERR]);
    const char *version = facts->report->python_version;

    *trial = (struct doctor_trial){
        .has_ended = true,
        .has_started = facts->has_returncode,
        .receipt = end->receipt,
        .version = version ? memory_copy_string(version) : NULL,
        .start_seconds = end->start_seconds,
        .run_seconds = end->run_seconds,
        .is_warm = end->ahead_seconds > 0,
    };
    json_incref((json_t *)end->receipt.missing);
    json_incref((json_t *)end->receipt.devices);
    if (!facts->is_success)
        trial->problem = memory_copy_string(facts->error ? facts->error : errors);
}

void doctor_trial_deinit(struct doctor_trial *trial)
{
    free(trial->problem);
    free(trial->version);
    json_decref((json_t *)trial->receipt.missing);
    json_decref((json_t *)trial->receipt.devices);
    *trial = (struct doctor_trial){0};
}
