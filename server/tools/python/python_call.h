/* Runs Python for an invocation of any tool: chooses the environment, asks a person for approval
 * where the environment requires it, submits the run and reports its progress.
 *
 * A tool reads its arguments into a request and passes it to python_call_start() in its `start`;
 * its `cancel` is python_call_cancel(); its DONE makes the result. */
#pragma once

#include "base/error.h"
#include "base/outcome.h"
#include "server/tools/python/python_request.h"

struct invocation;
struct python_call;
struct python_host;
struct run_facts;

/* The run of INVOCATION is over: fills in the result and calls invocation_finish, or
 * starts another one. DATA is that of its request; FACTS are borrowed until it returns. */
typedef void (*python_done_fn)(struct invocation *invocation, void *data, struct run_facts *facts);

/* Runs REQUEST for INVOCATION, and uses its `work`. READY: nothing runs; the result asks for
 * approval or says that it was refused. PENDING: DONE is called once, unless the invocation is
 * cancelled. */
enum outcome python_call_start(struct invocation *invocation, struct python_host *host,
                               const struct python_request *request, python_done_fn done,
                               struct error *err);

/* The DATA of the request of a pending INVOCATION. */
void *python_call_data(const struct invocation *invocation);

/* Cancels the run of a pending INVOCATION. */
void python_call_cancel(struct invocation *invocation);

/* Starts a run of INVOCATION, which may have several at a time: its `work` is left to the tool.
 * *RET, where the outcome is PENDING, is there until DONE. */
enum outcome python_call_start_part(struct invocation *invocation, struct python_host *host,
                                    const struct python_request *request, python_done_fn done,
                                    struct python_call **ret, struct error *err);
void python_call_cancel_part(struct python_call *call);
