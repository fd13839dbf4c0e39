/* The tools of the operator that a script may call: the view that a turn has of them.
 *
 * The script has one end of a socket (process_command.tools). The embedding object has the other
 * end, the calls and their limits. Calls are possible while code has its turn. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

struct script_tools;

struct script_tools_ops {
    /* Code begins its turn: calls are possible, and count anew. */
    void (*begin)(struct script_tools *tools);

    /* The turn is over: pending calls are cancelled. The account of its calls, or NULL if there
     * were none; new reference. Harmless when no turn has begun. */
    json_t *(*end)(struct script_tools *tools);

    /* Ends the turn, if there is one, and frees TOOLS. */
    void (*free)(struct script_tools *tools);
};

/* Embedded; see above. */
struct script_tools {
    const struct script_tools_ops *ops;
    int descriptor; /* the end of the script */

    /* Set by the turn: the first call is pending, or the last one is not any more. */
    void (*pended)(void *data, bool is_pending);
    void *data; /* of the turn */
};

/* Harmless for NULL. */
static inline void script_tools_free(struct script_tools *tools)
{
    if (tools)
        tools->ops->free(tools);
}
