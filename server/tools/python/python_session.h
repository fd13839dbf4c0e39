/* The session that a call asks for, which must exist and belong to the client. */
#pragma once

#include "base/error.h"
#include "environments/environment_settings.h"
#include "server/tools/python/python_request.h"

#include <stdbool.h>

struct environment;
struct notebook;
struct python_host;
struct tool_caller;

/* True when REQUEST goes on in a session that is there. */
bool python_session_continues(const struct python_request *request);

/* That session. Borrowed; NULL with ERROR_INVALID_ARGUMENTS: CALLER has none of this name. */
struct notebook *python_session_find(const struct python_host *host,
                                     const struct tool_caller *caller,
                                     const struct python_request *request, struct error *err);

/* The session of REQUEST in words, which stay the same, for the person who is to approve it; owned
 * by the caller. NULL: it is for no session. */
char *python_session_describe(const struct python_host *host, const struct tool_caller *caller,
                              const struct python_request *request);

/* The session's environment, borrowed; NULL with ERR as above, or because CALLER may not use it any
 * more: what was allowed when the session began may be forbidden today. REQUEST may name no other
 * environment, and no directory. */
struct environment *python_session_environment(const struct python_host *host,
                                               const struct tool_caller *caller,
                                               const struct python_request *request,
                                               struct error *err);

/* What is asked, whatever was configured when the session began: the policy of the environment that
 * has its name today. */
enum approval_policy python_session_approval(const struct python_host *host,
                                             const struct tool_caller *caller,
                                             const struct python_request *request);

/* True when a cell of REQUEST in ENVIRONMENT may install packages (code/pip_line.h): CALLER may
 * define environments that have some, and ENVIRONMENT is a Python of this machine. */
bool python_session_installs(const struct python_host *host, const struct tool_caller *caller,
                             const struct python_request *request,
                             const struct environment *environment);

/* The environment for a new Python of NOTEBOOK, as it is configured today. Borrowed until the loop
 * goes on. NULL with ERR: CALLER may not use it any more, or it is no longer for the directory. */
struct environment *python_session_renew(const struct python_host *host,
                                         const struct tool_caller *caller,
                                         const struct notebook *notebook, struct error *err);
