/* The size of each working directory of each principal, as it was last measured.
 *
 * The watch of a run or a session (directory_watch.h) measures at its beginning, now and then, and
 * at its end. Where the last measure was left out, the directory is doubted, and a survey
 * (disk_survey.h) measures it soon. The directories that an earlier server has left are unknown
 * until they are used.
 *
 * An entry lasts as long as its directory: it is removed with it. If somebody else has removed the
 * directory, its entry goes with the next sweep, which does not see it. */
#pragma once

#include "base/list.h"
#include "environments/process/isolation.h"

#include <stdbool.h>
#include <stdint.h>

/* The name of a directory, in three parts. */
struct disk_place {
    const char *principal; /* borrowed; NULL: it is nobody's, and not counted */
    enum isolation isolation;
    const char *handle; /* borrowed */
};

struct disk_ledger {
    bool are_several; /* more than one principal has called */

    /* Private. */
    char *first;         /* owned; the principal that called first, or NULL */
    void *accounts;      /* owned: a tree of struct disk_account, by principal */
    void *entries;       /* owned: a tree of struct disk_entry, by handle */
    struct list seen;    /* of all entries; the first was seen longest ago */
    struct list doubted; /* of some */
    unsigned long look;  /* the number of the sweep's newest look */
};

void disk_ledger_init(struct disk_ledger *ledger);
void disk_ledger_deinit(struct disk_ledger *ledger);

/* PRINCIPAL calls. */
void disk_ledger_meet(struct disk_ledger *ledger, const char *principal);

/* The directory at PLACE takes BYTES. */
void disk_ledger_note(struct disk_ledger *ledger, const struct disk_place *place, uint64_t bytes);

/* The bytes that were noted last for PLACE, or 0. */
uint64_t disk_ledger_bytes(const struct disk_ledger *ledger, const struct disk_place *place);

/* The sum of them for all directories of PRINCIPAL. */
uint64_t disk_ledger_taken(const struct disk_ledger *ledger, const char *principal);

/* The directory HANDLE has been removed. */
void disk_ledger_forget(struct disk_ledger *ledger, const char *handle);

/* The directory at PLACE may take more than is known: MORE, where a measure cannot tell. */
void disk_ledger_doubt(struct disk_ledger *ledger, const struct disk_place *place, uint64_t more);

/* A directory that is doubted, and is not any more. PLACE is borrowed until the ledger changes.
 * False: there is none. */
bool disk_ledger_take_doubted(struct disk_ledger *ledger, struct disk_place *ret_place,
                              uint64_t *ret_more);

/* A look at all directories that there are: it begins, sees the directory HANDLE, and ends. Then
 * older directories that it has not seen are forgotten. */
void disk_ledger_begin_look(struct disk_ledger *ledger);
void disk_ledger_see(struct disk_ledger *ledger, const char *handle);
void disk_ledger_end_look(struct disk_ledger *ledger);
