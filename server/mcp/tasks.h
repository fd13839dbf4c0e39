/* The methods of tasks, in both forms (2025-11-25, and the extension of 2026-07-28), and how a call
 * becomes one. */
#pragma once

#include "base/error.h"
#include "base/outcome.h"
#include "server/mcp/job.h"

#include <jansson.h>

struct mcp_request;

#define TASKS_EXTENSION "io.modelcontextprotocol/tasks"

/* Starts the call of a tool that JOB is, directly or as a task, as the tool, the revision and the
 * request want it; see mcp_request_start. MISFIT: the fault of its arguments, or NULL. */
enum outcome tasks_start_call(struct job *job, const struct error *misfit, json_t **ret,
                              struct error *err);

/* -1 with ERR when the client of REQUEST does not declare the extension. */
int tasks_check_extension(struct mcp_request *request, struct error *err);

enum outcome tasks_get(struct mcp_request *request, json_t **ret, struct error *err);
enum outcome tasks_result(struct mcp_request *request, json_t **ret, struct error *err);
enum outcome tasks_update(struct mcp_request *request, json_t **ret, struct error *err);
enum outcome tasks_cancel(struct mcp_request *request, json_t **ret, struct error *err);
enum outcome tasks_list(struct mcp_request *request, json_t **ret, struct error *err);
