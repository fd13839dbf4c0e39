/* Work that takes a while, for tools that have to be pending: a step of it comes some time later.
 */
#pragma once

#include "base/outcome.h"
#include "server/tools/invocation.h"

/* Calls STEP for INVOCATION in SECONDS. It may call `later` again, or ends the call. One step at a
 * time.
 */
enum outcome later(struct invocation *invocation, double seconds,
                   void (*step)(struct invocation *invocation));

/* The `cancel` of a tool that uses `later`: the step will not come. */
void later_cancel(struct invocation *invocation);
