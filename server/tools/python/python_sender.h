/* The client that has sent a script hears of the calls of tools that the script makes, and its user
 * is asked whether a tool may be called. */
#pragma once

#include "environments/script_tools.h"
#include "server/tools/invocation.h"

struct python_progress;

/* Embedded in its call. */
struct python_sender {
    struct script_sender sender;
    struct invocation *invocation;    /* borrowed, as the next ones */
    struct python_progress *progress; /* where calls are told */
    struct script_question *question; /* that the user is asked; or NULL */
    struct invocation_aside aside;
    unsigned tries; /* of the question */
};

void python_sender_init(struct python_sender *sender, struct invocation *invocation,
                        struct python_progress *progress);
