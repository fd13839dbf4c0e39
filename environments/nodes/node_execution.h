/* An execution on a node: it waits for one, says what is to be executed, and tells its listener
 * what comes back. If the node is lost, the execution has failed: it is not started again, since it
 * may have been under way. */
#pragma once

#include "environments/nodes/node_environment.h"

/* Tells the node of STAY about NODE. False: it knows. */
bool node_execution_introduce(struct node_environment *node, struct node_stay *stay);

/* Asks the node of STAY to prepare NODE, and to say what it has. */
void node_execution_ask(const struct node_environment *node, struct node_stay *stay);

/* See environment_start. `is_starting` until the node says that the code begins. */
struct execution *node_execution_start(struct node_environment *node,
                                       const struct execution_request *request,
                                       struct execution_listener *listener, struct error *err);
