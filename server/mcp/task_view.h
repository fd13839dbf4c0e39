/* A task as clients see it, in the form of the revision that it was made at. */
#pragma once

#include "server/mcp/task.h"

#include <jansson.h>

#define TASK_VIEW_RELATED "io.modelcontextprotocol/related-task"

/* Its state. New reference. */
json_t *task_view(const struct task *task);

/* The same with what it ended with or asks for, where the form has that beside it. New reference.
 */
json_t *task_view_detailed(const struct task *task);

/* What a message that belongs to it has in _meta. New reference. */
json_t *task_view_related(const struct task *task);
