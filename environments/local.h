/* The common part of the environments of this machine: a script is executed by an interpreter, in
 * the process layer. They differ in how they find or make the interpreter. */
#pragma once

#include "environments/environment.h"

/* Starts the script of REQUEST with INTERPRETER (an absolute path). See environment_start. */
struct execution *local_start(struct environment *environment, const char *interpreter,
                              const struct execution_request *request,
                              struct execution_listener *listener, struct error *err);

/* For environment_ops. */
enum script_delivery local_delivery(const struct environment *environment);
bool local_can_overlap(const struct environment *environment);
struct process_receipt local_expected_receipt(const struct environment *environment);
