/* The go, for a container that waits for its script: says that the script is there (engine/go.h).
 *
 * The engine of this machine has the file with the script mounted, and by its socket the input of a
 * program can be ended alone: nothing follows the go. The engine of another machine may show the
 * file later, and TLS has no such end: its go includes the code, and the input stays open. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct container;
struct docker_site;
struct exec;

struct docker_go {
    char *bytes; /* owned */
    size_t length;
    bool has_line; /* the input stays open behind the go */
};

/* Puts CODE into FILE, which is empty and lies over the script of a container of SITE, and makes
 * the go for it. -1 with ERR. */
int docker_go_put(struct docker_go *go, const struct docker_site *site, int file, const char *code,
                  size_t length, struct error *err);

/* Makes a go that tells an init to end without running a script. */
void docker_go_refuse(struct docker_go *go, const struct docker_site *site);
void docker_go_deinit(struct docker_go *go);

void docker_go_tell_container(const struct docker_go *go, struct container *container);
void docker_go_tell_exec(const struct docker_go *go, struct exec *exec);

/* All output has come: an init whose input is still open may end. */
void docker_go_dismiss_container(const struct docker_go *go, struct container *container);
void docker_go_dismiss_exec(const struct docker_go *go, struct exec *exec);
