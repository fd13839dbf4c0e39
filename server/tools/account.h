/* Calls of tools in the log and the metrics, written when they end: the caller, the tool, the end
 * and the time of each. Code, output and other data of the caller are never logged. */
#pragma once

#include "base/error.h"

#include <jansson.h>

struct invocation;

/* INVOCATION has ended with its result, or with ERR. */
void account_end(const struct invocation *invocation, const struct error *err);

void account_cancel(const struct invocation *invocation);

/* INVOCATION was not started because of ERR. NAME is the tool that the client asked for. */
void account_refuse(const struct invocation *invocation, const char *name, const struct error *err);

/* For tools: adds VALUE (taken: a string, number or boolean) under KEY to the log line of
 * INVOCATION. */
void account_note(struct invocation *invocation, const char *key, json_t *value);
