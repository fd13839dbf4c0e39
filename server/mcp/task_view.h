/* A task as clients see it, in the form of the revision that it was made at. */
#pragma once

#include "server/mcp/task.h"

#include <jansson.h>

#define TASK_VIEW_RELATED "io.modelcontextprotocol/related-task"

/* Its state. New reference. */
json_t *task_view(const struct task *task);

/* The same with its result or its questions, where the form has them beside the state. New
 * reference. */
json_t *task_view_detailed(const struct task *task);

/* The member of _meta in a message that belongs to TASK. New reference. */
json_t *task_view_related(const struct task *task);
