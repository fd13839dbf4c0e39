/* The directory for files that outlive the program, such as working directories. */
#pragma once

#include "base/error.h"

/* The first that can be used of $STATE_DIRECTORY, ${XDG_STATE_HOME:-~/.local/state}/pyexecd and
 * /tmp/pyexecd-UID; made when it is missing. It is ours and nobody else may write in it. Owned by
 * the caller; NULL with ERR, which names the last directory. */
char *state_directory_open(struct error *err);

/* The same by its name, with the links on its way. */
char *state_directory_find(struct error *err);

/* /dev/shm/pyexecd-UID, for files in memory. Ours, owned by the caller, and NULL with ERR as
 * above. */
char *state_directory_open_in_memory(struct error *err);
