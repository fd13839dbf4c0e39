/* Python that is run for an invocation, whichever tool was called: the environment is chosen, a
 * person is asked where the environment wants it, the run is submitted, its progress is told.
 *
 * A tool reads its arguments into a request, calls python_call_start() as its `start` and has
 * python_call_cancel() as its `cancel`; what comes back is made a result in DONE. */
#pragma once

#include "base/error.h"
#include "base/outcome.h"
#include "server/tools/python_request.h"

struct invocation;
struct python_host;
struct run_report;
struct run_setting;

/* The run of INVOCATION is over. Whoever is told fills in the result, and ends the invocation.
 * REPORT and SETTING are borrowed until the return. */
typedef void (*python_done_fn)(struct invocation *invocation, const struct run_report *report,
                               const struct run_setting *setting);

/* Runs what REQUEST wants for INVOCATION; uses its `work`. READY: nothing runs, a person is asked
 * first or has refused, which the result says. PENDING: DONE comes once, unless it is cancelled. */
enum outcome python_call_start(struct invocation *invocation, struct python_host *host,
                               const struct python_request *request, python_done_fn done,
                               struct error *err);

/* Ends the pending call of INVOCATION. */
void python_call_cancel(struct invocation *invocation);
