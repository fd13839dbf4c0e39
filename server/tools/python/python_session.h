/* The session that a call asks for, which must exist and belong to the client. */
#pragma once

#include "base/error.h"
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

/* The session's environment, borrowed; NULL with ERR as above. REQUEST may name no other
 * environment, and no directory. */
struct environment *python_session_environment(const struct python_host *host,
                                               const struct tool_caller *caller,
                                               const struct python_request *request,
                                               struct error *err);
