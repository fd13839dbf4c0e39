/* Tools that tell their client something while they work, or let it go until they are done. */
#include "base/memory.h"
#include "server/tools/invocation.h"
#include "server/tools/tool.h"
#include "tests/conformance/catalogue.h"
#include "tests/conformance/later.h"

#include <jansson.h>

enum { MILLISECONDS_APART = 50, RECONNECT_MILLISECONDS = 100 };

static enum outcome a_little_later(struct invocation *invocation,
                                   void (*step)(struct invocation *invocation))
{
    return later(invocation, MILLISECONDS_APART / 1e3, step);
}

static void log_info(struct invocation *invocation, const char *text)
{
    invocation_log(invocation, SEVERITY_INFO, NULL, json_string(text));
}

/* Progress */

static void progress_end(struct invocation *invocation)
{
    invocation->progress(invocation, 100, 100, "Completed");
    catalogue_answer(invocation, "Told of the progress.");
    invocation_finish(invocation);
}

static void progress_middle(struct invocation *invocation)
{
    invocation->progress(invocation, 50, 100, "Half of it");
    (void)a_little_later(invocation, progress_end);
}

static enum outcome progress_start(struct invocation *invocation, struct error *err)
{
    (void)err;
    invocation->progress(invocation, 0, 100, "Started");
    return a_little_later(invocation, progress_middle);
}

/* Log messages */

static void log_end(struct invocation *invocation)
{
    log_info(invocation, "Tool execution completed");
    catalogue_answer(invocation, "Logged.");
    invocation_finish(invocation);
}

static void log_middle(struct invocation *invocation)
{
    log_info(invocation, "Tool processing data");
    (void)a_little_later(invocation, log_end);
}

static enum outcome log_start(struct invocation *invocation, struct error *err)
{
    (void)err;
    log_info(invocation, "Tool execution started");
    return a_little_later(invocation, log_middle);
}

/* Letting the client go */

static void reconnection_end(struct invocation *invocation)
{
    catalogue_answer(invocation, "The client came back for this.");
    invocation_finish(invocation);
}

static enum outcome reconnection_start(struct invocation *invocation, struct error *err)
{
    (void)err;
    invocation_release(invocation);
    return later(invocation, RECONNECT_MILLISECONDS / 1e3, reconnection_end);
}

void catalogue_add_telling_tools(struct registry *registry)
{
    static const struct tool TOOLS[] = {
        {.name = "test_tool_with_progress",
         .description = "Reports progress.",
         .start = progress_start,
         .cancel = later_cancel},
        {.name = "test_tool_with_logging",
         .description = "Writes to the log.",
         .start = log_start,
         .cancel = later_cancel},
        {.name = "test_logging_tool",
         .description = "Writes to the log, too.",
         .start = log_start,
         .cancel = later_cancel},
        {.name = "test_reconnection",
         .description = "Lets its client go and come back for the answer.",
         .start = reconnection_start,
         .cancel = later_cancel},
    };

    for (size_t i = 0; i < ARRAY_SIZE(TOOLS); i++)
        catalogue_add_tool(registry, &TOOLS[i], NULL);
}
