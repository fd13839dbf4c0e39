/* The tool `run_python`: arguments in, a run of a script, content out. */
#pragma once

#include "base/error.h"

#include <ev.h>
#include <jansson.h>

struct caller_rules;
struct catalog;
struct executor;
struct registry;
struct workplace;

/* What the tool works with. Everything is borrowed and outlives the registry. */
struct run_python_settings {
    struct ev_loop *loop;
    struct catalog *catalog;
    const struct caller_rules *rules; /* NULL: no call may define an environment */
    struct executor *executor;
    struct workplace *workplace;
    const char *default_environment;
};

struct run_python;

/* Registers the tool; release the returned object (NULL on failure) after the registry. */
struct run_python *run_python_register(struct registry *registry,
                                       const struct run_python_settings *settings,
                                       struct error *err);

/* What calls work with at this time. Borrowed. */
const struct run_python_settings *run_python_settings(const struct run_python *run_python);

/* Calls work with SETTINGS from now on; those that have started go on as they were. Where the tool
 * looks different then, it is replaced in REGISTRY, which tells whoever watches. */
int run_python_reload(struct run_python *run_python, struct registry *registry,
                      const struct run_python_settings *settings, struct error *err);
void run_python_free(struct run_python *run_python);
