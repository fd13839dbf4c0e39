/* The tools of the operator for scripts that a command runs. The person who types the command is
 * not asked about their calls: a script prints to that terminal, and could imitate a question. */
#pragma once

#include "environments/script_tools.h"

struct environment;
struct service;

/* A call that a person has to approve is denied. */
void command_sender_init(struct script_sender *sender);

/* The tools of a script in ENVIRONMENT; NULL: it may call none. */
struct script_tools *command_sender_open_tools(struct service *service,
                                               const struct environment *environment);
