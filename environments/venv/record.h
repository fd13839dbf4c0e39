/* The origin of a virtual environment.
 *
 *     VENV/pyexecd.json              the record of a venv in the state directory
 *
 *     STATE/venv-records/DIGEST.json the record of a venv at the operator's path, by that path
 *     VENV/pyexecd.json              its mark: the same random digits are in its record
 *
 * An installer can write in the venv that it installs into. A venv in the state directory is made
 * in one installation, and its record is written after that. A venv at a path gets packages again
 * and again, so no text in it is believed. A package can take away the mark, which makes the record
 * invalid. A venv without a record was not made here, or was not completed. */
#pragma once

#include "base/error.h"
#include "environments/interpreter/file_identity.h"

#include <stdbool.h>

#define VENV_RECORDS_NAME "venv-records" /* in the state directory */

struct venv_record {
    char *path;         /* owned; of the operator's venv; NULL: the record is in the venv */
    char *version;      /* owned; "3.11.2" */
    char *executable;   /* owned; the Python that it was made from */
    char *packages;     /* owned; a digest of the packages that have been installed, or NULL */
    char **directories; /* owned; the Python says it uses them (python_needs.h); NULL: not known */
    struct file_identity executable_file;
};

/* Where the record of the operator's venv at PATH is kept. Owned by the caller. */
char *venv_record_place(const char *state, const char *path);

/* KEPT is the place of the record, NULL: in VENV. False with an empty RET when there is no valid
 * record. Else RET holds owned strings, for venv_record_deinit. */
bool venv_record_read(struct venv_record *ret, const char *venv, const char *kept);
int venv_record_write(const struct venv_record *record, const char *venv, const char *kept,
                      struct error *err);
void venv_record_deinit(struct venv_record *record);

/* True if the record at KEPT is of a venv that is not there. */
bool venv_record_is_left_over(const char *kept);
