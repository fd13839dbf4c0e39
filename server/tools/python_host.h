/* What calls that run Python work with, whichever tool they are calls of: the environments, the
 * queue, the directories; and what people have agreed to for callers that do not last. */
#pragma once

#include "server/tools/approval.h"

#include <ev.h>

struct caller_rules;
struct catalog;
struct executor;
struct workplace;

/* Everything is borrowed and outlives the host; only the name is copied. */
struct python_settings {
    struct ev_loop *loop;
    struct catalog *catalog;
    const struct caller_rules *rules; /* NULL: no call may define an environment */
    struct executor *executor;
    struct workplace *workplace;
    const char *default_environment;
};

struct python_host {
    struct python_settings settings;
    char *default_environment;  /* owned: what the settings point to */
    struct approvals approvals; /* of callers that do not last, by principal */
    unsigned long calls;        /* so far: the log numbers them */
};

/* Free the host after the registry with its tools. */
struct python_host *python_host_new(const struct python_settings *settings);

/* Calls work with SETTINGS from now on; those that have started go on as they were. */
void python_host_set(struct python_host *host, const struct python_settings *settings);

/* Harmless for NULL. */
void python_host_free(struct python_host *host);
