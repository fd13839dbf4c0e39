/* The configuration: YAML, checked against schemas/config.json, every error with its place.
 *
 * YAML becomes a jansson tree and, beside it, the line and column of every value and key, found by
 * JSON Pointer. Later findings (a missing interpreter) are reported at the same place, so all
 * errors look alike: `file:line:col: path: what is wrong`. */
#pragma once

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>

struct config;

/* Reads PATH; or, when PATH is NULL, makes the configuration that has only defaults. Never NULL: it
 * keeps its errors, see config_has_errors. A file that group or others may write is refused, since
 * it decides what is executed. */
struct config *config_load(const char *path);

/* True when the file could not be opened at all; that is also an error of the configuration. */
bool config_is_missing(const struct config *config);

/* The same from TEXT; NAME stands for the file in messages. */
struct config *config_parse(const char *name, const char *text, size_t length);
void config_free(struct config *config);

/* The tree with every default filled in, sizes as integers in bytes; borrowed. Valid only without
 * errors. Members that an environment leaves out (timeout, max_timeout, limits) have the server's
 * values. */
const json_t *config_tree(const struct config *config);

/* Adds an error at the value that POINTER (JSON Pointer, from printf) names, or where that is a
 * default, at the nearest value around it that is in the file. */
void config_complain(struct config *config, const char *message, const char *pointer, ...)
    __attribute__((format(printf, 3, 4)));

bool config_has_errors(const struct config *config);

/* The environments that the operator lets callers define for themselves. */
struct config_callers {
    bool define_environments;     /* a call may define the environment that it runs in */
    const json_t *allowed_images; /* borrowed: array of patterns, `*` for any characters */
    const json_t *allowed_paths;  /* borrowed: array of absolute paths of directories */
};

/* From CONFIG, which has no errors. ADDRESSES, NULL-terminated, are the addresses that are really
 * served, named by CONFIG or by the command line: if CONFIG says nothing, only the client that
 * started this program over stdio may define environments. */
struct config_callers config_callers(const struct config *config, const char *const *addresses);

/* One line per error, each with its newline, in the order of the file; owned by the caller. */
char *config_error_text(const struct config *config);

/* The file, or NULL when there was none. Borrowed. */
const char *config_path(const struct config *config);

/* True when others than its owner may read the file: it can hold no password then. */
bool config_is_shared(const struct config *config);

/* Where the configuration is looked for when no path is given: $PYEXECD_CONFIG,
 * ${XDG_CONFIG_HOME:-~/.config}/pyexecd/config.yaml, /etc/pyexecd/config.yaml. The first that
 * exists, owned by the caller, or NULL. A path in $PYEXECD_CONFIG is returned unseen. */
char *config_find(void);

/* The second of these places, whether there is a file or not; NULL without a home. Owned by the
 * caller. */
char *config_home_path(void);

/* TOKENS, a path, takes the place of the `token_file` in CONFIG, which has no errors. */
void config_use_tokens(struct config *config, const char *tokens);

/* ADDRESSES, NULL-terminated, take the place of `listen` in CONFIG, which has no errors. True where
 * the file has that key. */
bool config_use_addresses(struct config *config, const char *const *addresses);
