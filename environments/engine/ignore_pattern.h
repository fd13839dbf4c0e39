/* One pattern of .dockerignore. It is run like an automaton, all ways at once, so that no match
 * takes more steps than the product of the lengths of pattern and path. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ignore_token;

struct ignore_pattern {
    struct ignore_token *tokens; /* owned */
    size_t count;
};

/* TEXT is a line of .dockerignore, cleaned and without `!`. */
int ignore_pattern_init(struct ignore_pattern *pattern, const char *text, struct error *err);
void ignore_pattern_deinit(struct ignore_pattern *pattern);

/* True if PATH or a directory above it matches. */
bool ignore_pattern_matches(const struct ignore_pattern *pattern, const char *path);

/* True when something inside of the directory PATH could match. */
bool ignore_pattern_may_match_inside(const struct ignore_pattern *pattern, const char *path);
