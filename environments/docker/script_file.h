/* The file that is laid over script.py in a container: only the server writes to it, and no script
 * can replace it. And the go, which says that the script is in it. */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <sys/types.h>

struct docker_site;

/* Makes the new file PATH with LENGTH bytes of CODE. READER, if not NULL, is another user that may
 * read it. Returns the file, open for writing, owned by the caller. -1 with ERR. */
int docker_script_file_new(const char *path, const char *code, size_t length, const uid_t *reader,
                           struct error *err);

/* The go, for a container that waits for its script: says that the script is there (struct go in
 * engine/init_protocol.h). The engine of this machine has the file with the script mounted. The
 * engine of another machine may show the file later: its go includes the code. */
struct docker_go {
    char *bytes; /* owned: frames of the wire; NULL: there is none */
    size_t length;
};

/* Puts CODE into FILE, which is empty and lies over the script of a container of SITE, and makes
 * the go for it. -1 with ERR. */
int docker_go_put(struct docker_go *go, const struct docker_site *site, int file, const char *code,
                  size_t length, struct error *err);
void docker_go_deinit(struct docker_go *go);
