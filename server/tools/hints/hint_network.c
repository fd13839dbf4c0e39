#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/environment.h"
#include "server/tools/hints/hint_table.h"
#include "server/tools/hints/package_advice.h"

#include <stdlib.h>
#include <string.h>

/* True for any of WORDS, which end with NULL. */
static bool hint_prints_any(const struct hint_facts *facts, const char *const *words)
{
    for (; *words; words++)
        if (hint_prints(facts, *words))
            return true;
    return false;
}

/* If a run could get no network of its own, it can make no sockets for a network. */
static bool hint_is_offline(const struct hint_facts *facts)
{
    return hint_is_enforced(facts, LAYER_NETWORK) ||
           (hint_is_absent(facts, LAYER_NETWORK) && hint_is_enforced(facts, LAYER_CALLS));
}

/* Messages of Python, libraries and programs about a missing network. */
static bool hint_missed_network(const struct hint_facts *facts)
{
    static const char *const words[] = {
        "[Errno -2] Name or service not known",
        "[Errno -3] Temporary failure in name resolution",
        "[Errno -5] No address associated with hostname",
        "[Errno 101] Network is unreachable",
        "[Temporary failure in name resolution]", /* aiohttp */
        "Could not resolve host: ",               /* curl, git */
        NULL,
    };

    return hint_prints_any(facts, words);
}

/* Their messages about a missing service on this machine. */
static bool hint_missed_service(const struct hint_facts *facts)
{
    static const char *const words[] = {
        "[Errno 111] Connection refused",
        "Error 111 connecting to ",    /* redis */
        " failed: Connection refused", /* PostgreSQL */
        "connect ECONNREFUSED ",       /* node */
        NULL,
    };

    return hint_prints_any(facts, words);
}

/* An environment with a network that the caller may name. */
static const struct environment *hint_find_network(const struct hint_facts *facts)
{
    for (size_t i = 0; facts->offered[i]; i++) {
        const struct environment *other = facts->offered[i];

        if (environment_isolation(other) == ISOLATION_NONE ||
            (other->settings.sandbox.is_wanted && other->settings.sandbox.network))
            return other;
    }
    return NULL;
}

/* True when the script has called pip, and pip did not end, or failed. */
static bool hint_missed_packages(const struct hint_facts *facts)
{
    static const char *const types[] = {"subprocess.CalledProcessError",
                                        "subprocess.TimeoutExpired"};

    if (hint_prints(facts, "Could not find a version that satisfies the requirement ") ||
        hint_prints(facts, "WARNING: Retrying (Retry("))
        return true;
    for (size_t i = 0; i < ARRAY_SIZE(types); i++)
        if (hint_is_about(facts, types[i]) && strstr(facts->failure.message, "pip") &&
            strstr(facts->failure.message, "install"))
            return true;
    return false;
}

/* Messages of clients that the proxy of a run refuses. */
static bool hint_was_refused_by_proxy(const struct hint_facts *facts)
{
    static const char *const words[] = {
        "Tunnel connection failed: 403 ",                  /* Python and its libraries */
        "CONNECT tunnel failed, response 403",             /* curl */
        "Received HTTP code 403 from proxy after CONNECT", /* curl before 8 */
        "Connection not allowed by ruleset",               /* by SOCKS */
        NULL,
    };

    return hint_prints_any(facts, words);
}

/* A Python that lets nobody install anything has its own hint. */
static char *hint_closed_index(const struct hint_facts *facts)
{
    AUTO_FREE char *managed = facts->is_at_terminal ? NULL : hint_managed_python(facts);
    AUTO_FREE char *advice = facts->is_at_terminal
                                 ? memory_copy_string("Name them in pip_packages of an environment "
                                                      "of type venv.")
                                 : package_advice(facts, NULL);

    if (managed)
        return NULL;
    return memory_format("This environment has no network: scripts cannot install packages. %s",
                         advice);
}

/* The hint for a run that reaches only HOSTS. */
static char *hint_hosts(const struct hint_facts *facts, char *const *hosts)
{
    AUTO_FREE char *list = NULL;

    if (!hint_was_refused_by_proxy(facts) && !hint_missed_network(facts))
        return NULL;
    list = hint_list_places(hosts);
    return memory_format("Scripts here reach nothing of the network but%s, and only through the "
                         "proxy that HTTPS_PROXY and ALL_PROXY name. %s can open more "
                         "(network).",
                         list + strlen(","), hint_operator(facts));
}

/* The hint for a run whose loopback is its own. */
static char *hint_loopback(const struct hint_facts *facts)
{
    static const char own[] = "localhost is the run's own here: nothing answers there but what the "
                              "script itself has started.";
    const struct environment *other = hint_find_network(facts);

    if (!hint_is_enforced(facts, LAYER_NETWORK) || !hint_missed_service(facts))
        return NULL;
    if (other)
        return memory_format("%s Environment \"%s\" has this machine's: call with environment: "
                             "\"%s\".",
                             own, other->name, other->name);
    return memory_format("%s %s can open this machine's (network: true).", own,
                         hint_operator(facts));
}

/* The hint for a run without a network. */
static char *hint_closed_network(const struct hint_facts *facts)
{
    const struct environment *other = hint_find_network(facts);

    if (other)
        return memory_format("This environment has no network. Environment \"%s\" has one: call "
                             "with environment: \"%s\".",
                             other->name, other->name);
    return memory_format(
        "This environment has no network%s. %s can open it (network: true).",
        facts->is_at_terminal ? "" : ": work with what is there, and pass data in `files`",
        hint_operator(facts));
}

char *hint_network(const struct hint_facts *facts)
{
    char *const *hosts = facts->environment->settings.sandbox.hosts;
    char *said;

    if (!hint_is_offline(facts))
        return NULL;
    if (hosts)
        said = hint_hosts(facts, hosts);
    else if (hint_missed_packages(facts))
        said = hint_closed_index(facts);
    else
        said = hint_missed_network(facts) ? hint_closed_network(facts) : NULL;
    return said ? said : hint_loopback(facts);
}
