#include "server/tools/python/python_session.h"

#include "base/memory.h"
#include "environments/notebook/notebooks.h"
#include "server/tools/caller.h"
#include "server/tools/python/python_host.h"

#include <string.h>
#include <time.h>

bool python_session_continues(const struct python_request *request)
{
    return request->fork || (request->session && strcmp(request->session, PYTHON_NEW_SESSION) != 0);
}

/* The answer for another caller's or a closed session is the same as for a name that never
 * existed. */
struct notebook *python_session_find(const struct python_host *host,
                                     const struct tool_caller *caller,
                                     const struct python_request *request, struct error *err)
{
    struct notebooks *notebooks = host->settings.notebooks;
    const char *name = request->fork ? request->fork : request->session;
    struct notebook *notebook =
        notebooks ? notebooks_find(notebooks, caller->principal->name, name) : NULL;

    if (!notebook)
        error_set(err, ERROR_INVALID_ARGUMENTS,
                  "there is no session \"%s\": it has ended, or never was; begin another one with "
                  "session: \"" PYTHON_NEW_SESSION "\"",
                  name);
    return notebook;
}

char *python_session_describe(const struct python_host *host, const struct tool_caller *caller,
                              const struct python_request *request)
{
    struct error ignored = ERROR_INIT;
    const struct notebook *notebook;
    time_t begun;
    struct tm parts;
    char time[32] = "";

    if (!request->session && !request->fork)
        return NULL;
    if (!python_session_continues(request))
        return memory_copy_string("Session: a new one, whose variables live on");
    notebook = python_session_find(host, caller, request, &ignored);
    if (!notebook)
        return NULL;
    begun = notebook_begun(notebook);
    if (gmtime_r(&begun, &parts))
        strftime(time, sizeof time, "%Y-%m-%d %H:%M:%S UTC", &parts);
    return memory_format(
        "Session: %s%s, begun %s; the code finds all that earlier code has left there",
        request->fork ? "a copy of " : "", notebook_handle(notebook), time);
}

struct environment *python_session_environment(const struct python_host *host,
                                               const struct tool_caller *caller,
                                               const struct python_request *request,
                                               struct error *err)
{
    struct notebook *notebook = python_session_find(host, caller, request, err);

    if (!notebook)
        return NULL;
    if (request->fork && request->session) {
        error_set(err, ERROR_INVALID_ARGUMENTS,
                  "session and fork are both given; leave one of them out");
        return NULL;
    }
    if (!request->environment && !request->definition && !request->working_directory)
        return notebook_environment(notebook);
    error_set(err, ERROR_INVALID_ARGUMENTS,
              "a session keeps its environment and its directory; leave out environment, "
              "environment_definition and working_directory");
    return NULL;
}
