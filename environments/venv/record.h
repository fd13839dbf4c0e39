/* The origin of a virtual environment, kept in it as VENV/pyexecd.json. A venv without a record was
 * not made here. The record is written last, so a venv with a record is complete. */
#pragma once

#include "base/error.h"
#include "environments/interpreter/file_identity.h"

#include <stdbool.h>

struct venv_record {
    char *version;      /* owned; "3.11.2" */
    char *executable;   /* owned; the Python that it was made from */
    char *packages;     /* owned; a digest of the packages that have been installed, or NULL */
    char **directories; /* owned; the Python says it uses them (python_needs.h); NULL: not known */
    struct file_identity executable_file;
};

/* False with an empty RET when there is no valid record. Else RET holds owned strings, for
 * venv_record_deinit. */
bool venv_record_read(struct venv_record *ret, const char *venv);
int venv_record_write(const struct venv_record *record, const char *venv, struct error *err);
void venv_record_deinit(struct venv_record *record);
