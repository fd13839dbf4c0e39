/* Who calls. A principal is whoever is on the other side, by name; a caller is one way that it
 * comes by: a connection, or a request that stands alone. */
#pragma once

#include "base/error.h"
#include "base/list.h"
#include "server/tools/limits.h"

#include <stdbool.h>

struct principals;

enum { TOOL_CALLER_LABEL_BYTES = 32 };

/* Shared by all callers of one name, and there as long as any of them is. */
struct principal {
    struct list link;      /* in the table */
    char *name;            /* owned */
    struct limits *limits; /* borrowed: of the table */
    unsigned references;
    struct list states; /* what is kept for it; see tool_caller_keep */
};

/* The principals that there are at this time. */
struct principals *principals_new(void);

/* All principals must be closed. */
void principals_free(struct principals *principals);

/* What they may do, and have done lately. Borrowed. */
struct limits *principals_limits(const struct principals *principals);

/* The principal NAME; every one that is opened is to be closed again. */
struct principal *principal_open(struct principals *principals, const char *name);
void principal_close(struct principal *principal);

/* There as long as anybody holds it: its connection, and what it has started and may outlive that.
 */
struct tool_caller {
    struct principal *principal; /* owned reference */
    bool lasting; /* comes again: a connection or session, not a request that stands alone */
    char label[TOOL_CALLER_LABEL_BYTES]; /* of that connection or session in the log, or "" */
    unsigned references;
    struct list states;
};

/* A caller, and the reference to it. */
struct tool_caller *tool_caller_new(struct principals *principals, const char *name, bool lasting);

/* LABEL (copied; NULL: none) is what the log calls it. */
void tool_caller_set_label(struct tool_caller *caller, const char *label);
struct tool_caller *tool_caller_ref(struct tool_caller *caller);

/* Harmless for NULL. */
void tool_caller_unref(struct tool_caller *caller);

/* For tools: what TOOL (its name) keeps for CALLER, or NULL. For a caller that does not last it is
 * kept for the principal. */
void *tool_caller_get(const struct tool_caller *caller, const char *tool);

/* For tools: keeps STATE (taken) for CALLER, which must not have one of TOOL's yet; RELEASE is
 * called when the caller, or its principal, goes away. */
void tool_caller_keep(struct tool_caller *caller, const char *tool, void *state,
                      void (*release)(void *state));
