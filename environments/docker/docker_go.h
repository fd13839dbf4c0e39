/* What a container that waits for its script is told when there is one (engine/go.h).
 *
 * The engine of this machine has the file with the script mounted, and by its socket the input of a
 * program can be ended alone: the go is the last that is said. The engine of another machine may
 * show the file later, and TLS has no such end: it gets the code as well, and its line stays. */
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
    bool has_line; /* the input of the program goes on */
};

/* Puts CODE into FILE, which is empty and lies over the script of a container of SITE, and makes
 * the go for it. -1 with ERR. */
int docker_go_put(struct docker_go *go, const struct docker_site *site, int file, const char *code,
                  size_t length, struct error *err);

/* One for what is not to run. */
void docker_go_refuse(struct docker_go *go, const struct docker_site *site);
void docker_go_deinit(struct docker_go *go);

void docker_go_tell_container(const struct docker_go *go, struct container *container);
void docker_go_tell_exec(const struct docker_go *go, struct exec *exec);

/* All output has come: an init that stays on the line may end. */
void docker_go_dismiss_container(const struct docker_go *go, struct container *container);
void docker_go_dismiss_exec(const struct docker_go *go, struct exec *exec);
