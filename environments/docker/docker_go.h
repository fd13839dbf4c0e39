/* The go, for a container that waits for its script: says that the script is there (engine/go.h).
 * The engine of this machine has the file with the script mounted. The engine of another machine
 * may show the file later: its go includes the code. */
#pragma once

#include "base/error.h"

#include <stddef.h>

struct docker_site;

struct docker_go {
    char *bytes; /* owned: frames of the wire; NULL: there is none */
    size_t length;
};

/* Puts CODE into FILE, which is empty and lies over the script of a container of SITE, and makes
 * the go for it. -1 with ERR. */
int docker_go_put(struct docker_go *go, const struct docker_site *site, int file, const char *code,
                  size_t length, struct error *err);
void docker_go_deinit(struct docker_go *go);
