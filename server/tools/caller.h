/* Callers. A principal is a client by name. A caller is a connection, session or stateless request
 * of a principal. */
#pragma once

#include "base/error.h"
#include "base/list.h"
#include "server/tools/limits.h"

#include <stdbool.h>

struct principals;

enum { TOOL_CALLER_LABEL_BYTES = 32 };

/* Shared by all callers of one name; freed with the last of them. */
struct principal {
    struct list link;      /* in the table */
    char *name;            /* owned */
    struct limits *limits; /* borrowed: of the table */
    unsigned references;
    struct list states; /* see tool_caller_keep */
};

/* The table of the principals that have callers. */
struct principals *principals_new(void);

/* All principals must be closed. */
void principals_free(struct principals *principals);

/* Their limits. Borrowed. */
struct limits *principals_limits(const struct principals *principals);

/* A reference to the principal NAME, to be released by principal_close. */
struct principal *principal_open(struct principals *principals, const char *name);
void principal_close(struct principal *principal);

/* Its references are counted: its connection has one, and each object that may outlive the
 * connection. */
struct tool_caller {
    struct principal *principal; /* owned reference */
    bool anonymous;              /* other clients come as the same principal */
    bool lasting;                /* a connection or session, not a stateless request */
    bool is_local; /* a process of our user on this machine: it can open the files of runs */
    char label[TOOL_CALLER_LABEL_BYTES]; /* in the log, or "" */
    unsigned references;
    struct list states;
};

/* A caller with one reference. */
struct tool_caller *tool_caller_new(struct principals *principals, const char *name, bool lasting);

/* Sets the name of the caller in the log; LABEL is copied, NULL means none. */
void tool_caller_set_label(struct tool_caller *caller, const char *label);
struct tool_caller *tool_caller_ref(struct tool_caller *caller);

/* Harmless for NULL. */
void tool_caller_unref(struct tool_caller *caller);

/* For tools: the state kept for CALLER under KEY, or NULL. For a caller that does not last, the
 * state belongs to its principal. */
void *tool_caller_get(const struct tool_caller *caller, const char *key);

/* For tools: keeps STATE (taken) for CALLER under KEY, where nothing may be kept yet. RELEASE is
 * called when the caller, or its principal, is freed. */
void tool_caller_keep(struct tool_caller *caller, const char *key, void *state,
                      void (*release)(void *state));
