#include "server/tools/python/python_session.h"

#include "base/memory.h"
#include "environments/callers/caller_rules.h"
#include "environments/catalog/catalog.h"
#include "environments/notebook/notebooks.h"
#include "environments/workplace/working_directory.h"
#include "server/tools/caller.h"
#include "server/tools/limits.h"
#include "server/tools/python/python_host.h"
#include "server/tools/python/python_offer.h"

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

/* The policy of ENVIRONMENT, which a call has defined, if a call defined it today. */
static int python_session_defined(const struct python_host *host,
                                  const struct environment *environment, enum approval_policy *ret,
                                  struct error *err)
{
    const struct caller_rules *rules = host->settings.rules;

    if (rules)
        return catalog_judge(host->settings.catalog, environment, rules, ret, err);
    return error_set(err, ERROR_INVALID_ARGUMENTS,
                     "this server lets no call define an environment");
}

/* The policy of the environment that is called NAME today. */
static int python_session_configured(const struct python_host *host, const char *name,
                                     enum approval_policy *ret, struct error *err)
{
    const struct environment *environment = catalog_find(host->settings.catalog, name);

    if (!environment)
        return error_set(err, ERROR_INVALID_ARGUMENTS, "there is no environment \"%s\" any more",
                         name);
    *ret = environment->settings.approval;
    return 0;
}

/* A session of CALLER which begins today has this policy, in an environment of the name of
 * ENVIRONMENT, or defined as that is. -1 with ERR where CALLER may have none. */
static int python_session_policy(const struct python_host *host, const struct tool_caller *caller,
                                 const struct environment *environment, enum approval_policy *ret,
                                 struct error *err)
{
    const struct principal *principal = caller->principal;
    const char *name =
        catalog_has_defined(host->settings.catalog, environment) ? NULL : environment->name;

    if (limits_check_environment(principal->limits, principal->name, name, err) < 0)
        return -1;
    return name ? python_session_configured(host, name, ret, err)
                : python_session_defined(host, environment, ret, err);
}

/* Says that NOTEBOOK is refused for CAUSE, and names the remedy. */
static void python_session_refuse(const struct notebook *notebook, const struct error *cause,
                                  struct error *err)
{
    error_set(err, cause->code,
              "session \"%s\" stays open, but executes nothing; close it with manage_sessions, and "
              "begin another one with session: \"" PYTHON_NEW_SESSION "\". The reason: %s",
              notebook_handle(notebook), cause->message);
}

/* Permission is that of today. */
static int python_session_judge(const struct python_host *host, const struct tool_caller *caller,
                                const struct notebook *notebook, enum approval_policy *ret,
                                struct error *err)
{
    struct error cause = ERROR_INIT;

    if (python_session_policy(host, caller, notebook_environment(notebook), ret, &cause) == 0)
        return 0;
    python_session_refuse(notebook, &cause, err);
    return -1;
}

enum approval_policy python_session_approval(const struct python_host *host,
                                             const struct tool_caller *caller,
                                             const struct python_request *request)
{
    struct error ignored = ERROR_INIT;
    const struct notebook *notebook = python_session_continues(request)
                                          ? python_session_find(host, caller, request, &ignored)
                                          : NULL;
    enum approval_policy policy = APPROVAL_NEVER;

    if (notebook)
        (void)python_session_judge(host, caller, notebook, &policy, &ignored);
    return policy;
}

bool python_session_installs(const struct python_host *host, const struct tool_caller *caller,
                             const struct python_request *request,
                             const struct environment *environment)
{
    return (request->session || request->fork) && environment->ops->needs &&
           !environment_kernel(environment) &&
           python_offer_for(&host->settings, caller->principal).rules;
}

/* Its files are those of one isolation. */
static int python_session_check_isolation(const struct notebook *notebook,
                                          const struct environment *environment, struct error *err)
{
    const enum isolation isolation = environment_isolation(environment);

    if (isolation == notebook_isolation(notebook))
        return 0;
    return error_set(err, ERROR_INVALID_ARGUMENTS,
                     "environment \"%s\" has isolation \"%s\" now, and the session's directory is "
                     "for isolation \"%s\"; close the session and begin another one with "
                     "session: \"" PYTHON_NEW_SESSION "\"",
                     environment->name, isolation_name(isolation),
                     isolation_name(notebook_isolation(notebook)));
}

struct environment *python_session_renew(const struct python_host *host,
                                         const struct tool_caller *caller,
                                         const struct notebook *notebook, struct error *err)
{
    const struct python_settings *settings = &host->settings;
    const struct environment *begun = notebook_environment(notebook);
    struct environment *environment;
    enum approval_policy ignored;

    if (python_session_judge(host, caller, notebook, &ignored, err) < 0)
        return NULL;
    environment = catalog_has_defined(settings->catalog, begun)
                      ? catalog_redefine(settings->catalog, caller->principal->name, begun,
                                         settings->rules, err)
                      : catalog_find(settings->catalog, begun->name);
    if (!environment || python_session_check_isolation(notebook, environment, err) < 0)
        return NULL;
    return environment;
}

/* A caller who names the environment and the directory of the session means the session. */
static bool python_session_is_at_home(const struct notebook *notebook,
                                      const struct python_request *request)
{
    const struct working_directory *directory = notebook_directory(notebook);
    const char *handle = directory ? working_directory_handle(directory) : NULL;

    return !request->definition &&
           (!request->environment ||
            strcmp(request->environment, notebook_environment(notebook)->name) == 0) &&
           (!request->working_directory ||
            (handle && strcmp(request->working_directory, handle) == 0));
}

struct environment *python_session_environment(const struct python_host *host,
                                               const struct tool_caller *caller,
                                               const struct python_request *request,
                                               struct error *err)
{
    struct notebook *notebook = python_session_find(host, caller, request, err);
    enum approval_policy ignored;

    if (!notebook)
        return NULL;
    if (request->fork && request->session) {
        error_set(err, ERROR_INVALID_ARGUMENTS,
                  "session and fork are both given; leave one of them out");
        return NULL;
    }
    if (python_session_is_at_home(notebook, request))
        return python_session_judge(host, caller, notebook, &ignored, err) == 0
                   ? notebook_environment(notebook)
                   : NULL;
    error_set(err, ERROR_INVALID_ARGUMENTS,
              "a session keeps its environment and its directory; leave out environment, "
              "environment_definition and working_directory");
    return NULL;
}
