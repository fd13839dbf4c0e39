/* The tools of the operator that a script may call: what a turn knows of them.
 *
 * The script has the one end of a socket (process_command.tools); the owner of this has
 * the other end, the calls and their limits. Calls are possible while code has its turn. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

struct script_tools;

/* The reason why a script waits. */
enum script_wait {
    SCRIPT_WAITS_FOR_NOTHING,
    SCRIPT_WAITS_FOR_TOOLS,
    SCRIPT_WAITS_FOR_A_PERSON,
};

enum script_answer {
    SCRIPT_ANSWER_NONE, /* there was no decision */
    SCRIPT_ANSWER_NO,
    SCRIPT_ANSWER_ONCE, /* this call may go on */
    SCRIPT_ANSWER_YES,  /* and all calls of this tool in this turn */
};

/* A person is to decide about a call; embedded. */
struct script_question {
    /* Inputs; borrowed until it is answered or withdrawn. */
    const char *tool; /* "server.tool" */
    const json_t *arguments;

    /* REASON: what the person has said with a no, or why there was no decision; or NULL. */
    void (*answered)(struct script_question *question, enum script_answer answer,
                     const char *reason);
};

/* The sender of the code of a turn; embedded. */
struct script_sender {
    const json_t *approved; /* array of "server.tool", which may be called; or NULL */

    /* The code calls TOOL, "server.tool". */
    void (*called)(struct script_sender *sender, const char *tool);

    /* NULL: `answered` comes, never from inside, unless it is withdrawn. Else the reason why nobody
     * is asked; static storage. One question at a time. */
    const char *(*ask)(struct script_sender *sender, struct script_question *question);
    void (*withdraw)(struct script_sender *sender);
};

struct script_tools_ops {
    /* Code of SENDER (borrowed; or NULL) begins its turn: calls are possible, and count anew. */
    void (*begin)(struct script_tools *tools, struct script_sender *sender);

    /* The code is to end: what is pending is withdrawn, and nobody is asked any more. The script is
     * told at the end of its turn only, because an answer would let it go on before an interrupt
     * reaches it. */
    void (*interrupt)(struct script_tools *tools);

    /* The turn is over: what is pending is cancelled. The account of its calls, or NULL if there
     * were none; new reference. Harmless when no turn has begun. */
    json_t *(*end)(struct script_tools *tools);

    /* Ends the turn, if there is one, and frees TOOLS. */
    void (*free)(struct script_tools *tools);
};

/* Embedded in its owner. */
struct script_tools {
    const struct script_tools_ops *ops;
    int descriptor; /* the end of the script */

    /* Set by the turn before `begin`, and told there: what the script waits for. */
    void (*waits)(void *data, enum script_wait wait);
    void *data; /* of the turn */
};

/* Harmless for NULL. */
static inline void script_tools_free(struct script_tools *tools)
{
    if (tools)
        tools->ops->free(tools);
}
