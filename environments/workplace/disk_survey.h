/* Measures the directories that the ledger doubts, one after the other, between other work.
 *
 * A run does not wait for the last measure of a large directory, and a cancelled run has none. A
 * survey finds the files that such runs have left. */
#pragma once

#include "environments/workplace/directory_measure.h"

#include <ev.h>
#include <stdint.h>

struct workplace;
struct working_directory;

struct disk_survey {
    ev_timer timer;                      /* while there is work; never holds the loop */
    struct working_directory *directory; /* under measure: a reference; or NULL */
    struct directory_measure measure;
    uint64_t more; /* bytes that a measure may not see */
};

void disk_survey_init(struct disk_survey *survey);

/* Goes on until nothing is doubted any more. */
void disk_survey_start(struct workplace *workplace);
void disk_survey_stop(struct workplace *workplace);
