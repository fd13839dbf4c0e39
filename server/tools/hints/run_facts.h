/* The facts about a run that is over, for its text, its hints and the log, and for commands. The
 * structured result is made of them last (run_result.h). */
#pragma once

#include "environments/executor.h"

#include <jansson.h>
#include <stdbool.h>

struct code_cleaning;

/* The setting of a run, which its report does not contain. Everything is borrowed. */
struct run_setting {
    struct environment *environment;
    double timeout;
    const struct code_cleaning *code; /* of a call; NULL: of a command */
    const char *session;              /* the handle of its session; NULL: it has none */
    json_t *approved_tools;           /* array of "server.tool": approved with the code; or NULL */
};

struct run_facts {
    const struct run_report *report;   /* borrowed */
    const struct run_setting *setting; /* borrowed */
    bool has_returncode;               /* the script has run, and its end is known */
    int returncode;                    /* 0 if there is none */
    bool is_success;
    char *error; /* owned: a failure that the output of the script does not show: "was killed by
                    SIGKILL"; NULL: there is none */
    json_t *streams[PROCESS_STREAMS]; /* owned: strings: the output as far as it was kept */
    bool is_truncated;                /* not all of it was kept */
    json_t *files;                    /* owned: an array, as in the report */
};

/* The facts of REPORT and SETTING, which outlive FACTS. */
void run_facts_init(struct run_facts *facts, const struct run_report *report,
                    const struct run_setting *setting);
void run_facts_deinit(struct run_facts *facts);

/* "SIGKILL", the signal that has killed the script. Owned by the caller; NULL: none has. */
char *run_facts_signal(const struct run_facts *facts);
