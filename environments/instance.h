/* This server among the servers that share a state directory now or have shared it before.
 *
 *     STATE/identity          the name of the state directory: random digits, written once
 *     STATE/servers/NAME      one empty file per server, which holds it locked while it lives
 *
 * Every object that a server makes outside of its own process tree, such as containers, carries
 * both names. A later server removes the things of a dead server, and never things of a living
 * server or of another state directory. */
#pragma once

#include "base/error.h"

#include <stdbool.h>

struct instance;

/* STATE is an existing directory that only we can write to. */
struct instance *instance_new(const char *state, struct error *err);
void instance_free(struct instance *instance);

/* Random hexadecimal digits. Borrowed. */
const char *instance_name(const struct instance *instance);
const char *instance_state_name(const struct instance *instance);

/* True while the server NAME of the same state directory is alive; this one is. */
bool instance_is_alive(const struct instance *instance, const char *name);
