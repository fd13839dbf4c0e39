/* What a virtual environment was made from, kept in it as VENV/pyexecd.json. A venv without a
 * record was not made here. The record is written last, so it never says more than there is. */
#pragma once

#include "base/error.h"
#include "environments/interpreter/file_identity.h"

#include <stdbool.h>

struct venv_record {
    char *version;      /* owned; "3.11.2" */
    char *executable;   /* owned; the Python that it was made from */
    char *packages;     /* owned; a digest of the packages that have been installed, or NULL */
    char **directories; /* owned; what that Python says it uses (python_needs.h); NULL: not known */
    struct file_identity executable_file;
};

/* False when there is none. What RET holds has to be released. */
bool venv_record_read(struct venv_record *ret, const char *venv);
int venv_record_write(const struct venv_record *record, const char *venv, struct error *err);
void venv_record_deinit(struct venv_record *record);
