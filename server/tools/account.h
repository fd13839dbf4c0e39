/* What the log and the metrics say of a call of a tool when it is over: who called what, how it
 * ended, how long it took. Never code, output, or what else could be a secret of somebody. */
#pragma once

#include "base/error.h"

#include <jansson.h>

struct invocation;

/* INVOCATION has ended: its result is there, or ERR. */
void account_end(const struct invocation *invocation, const struct error *err);

void account_cancel(const struct invocation *invocation);

/* INVOCATION, of what the client calls NAME, was not even started, because of ERR. */
void account_refuse(const struct invocation *invocation, const char *name, const struct error *err);

/* For tools: the line about INVOCATION says VALUE (taken: a string, number or boolean) under KEY,
 * too. */
void account_note(struct invocation *invocation, const char *key, json_t *value);
