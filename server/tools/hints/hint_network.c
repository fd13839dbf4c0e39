#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/docker/definition.h"
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

/* The network of a container that has none has this name. */
static bool hint_is_offline_container(const struct environment *environment)
{
    const char *network = docker_definition_read(environment->definition).network;

    return !network || strcmp(network, "none") == 0;
}

/* If a run could get no network of its own, it can make no sockets for a network. */
static bool hint_is_offline(const struct hint_facts *facts)
{
    if (hint_is_contained(facts))
        return hint_is_offline_container(facts->environment);
    return hint_is_enforced(facts, LAYER_NETWORK) ||
           (hint_is_absent(facts, LAYER_NETWORK) && hint_is_enforced(facts, LAYER_CALLS));
}

/* Messages of Python, libraries and programs about a missing network. */
static bool hint_missed_network(const struct hint_facts *facts)
{
    static const char *const words[] = {
        /* Of the C library, behind "[Errno -3] " of Python, in brackets of aiohttp, or plain from
         * PostgreSQL, ssh, ping and wget. */
        "Temporary failure in name resolution",
        "Name or service not known",
        "No address associated with hostname",
        "Network is unreachable",
        "Could not resolve host",         /* curl, git, ssh */
        "unable to resolve host address", /* wget */
        "Temporary failure resolving '",  /* apt */
        "Could not contact DNS servers",  /* aiohttp with aiodns */
        "Timeout while contacting DNS servers",
        "getaddrinfo EAI_AGAIN ", /* node */
        "net::ERR_INTERNET_DISCONNECTED",
        "net::ERR_NAME_NOT_RESOLVED",
        "failed to lookup address information", /* Rust */
        "java.net.UnknownHostException",
        NULL,
    };

    return hint_prints_any(facts, words);
}

/* Messages of clients that do not say what kept them from a service, here or elsewhere. */
static bool hint_missed_connection(const struct hint_facts *facts)
{
    static const char *const words[] = {
        "Could not connect to the endpoint URL: ", /* boto */
        "Connection error.",                       /* openai, anthropic */
        "All connection attempts failed",          /* httpx with anyio */
        "We couldn't connect to 'https://huggingface.co'",
        "and we cannot find the requested files in the local cache", /* huggingface_hub */
        "and we cannot find the appropriate snapshot folder",
        NULL,
    };

    return hint_prints_any(facts, words);
}

/* Their messages about a missing service on this machine. */
static bool hint_missed_service(const struct hint_facts *facts)
{
    static const char *const words[] = {
        "[Errno 111] Connection refused",
        "Error 111 connecting to ",          /* redis */
        "[Connect call failed ('127.0.0.1'", /* aiohttp */
        " failed: Connection refused",       /* PostgreSQL */
        "connect ECONNREFUSED ",             /* node */
        NULL,
    };

    return hint_prints_any(facts, words);
}

static bool hint_has_network(const struct environment *environment)
{
    const enum isolation isolation = environment_isolation(environment);

    if (isolation == ISOLATION_DOCKER)
        return !hint_is_offline_container(environment);
    return isolation == ISOLATION_NONE ||
           (environment->settings.sandbox.is_wanted && environment->settings.sandbox.network);
}

/* An environment with a network that the caller may name. */
static const struct environment *hint_find_network(const struct hint_facts *facts)
{
    for (size_t i = 0; facts->offered[i]; i++) {
        const struct environment *other = facts->offered[i];

        if (hint_has_network(other))
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

/* The proxy has not found a host that it lets scripts reach. */
static bool hint_was_missed_by_proxy(const struct hint_facts *facts)
{
    return hint_prints(facts, "Tunnel connection failed: 502 ") ||
           hint_prints(facts, "CONNECT tunnel failed, response 502");
}

/* A Python that lets nobody install anything has its own hint. */
static char *hint_closed_index(const struct hint_facts *facts)
{
    AUTO_FREE char *managed = hint_managed_python(facts);
    AUTO_FREE char *advice = package_advice(facts, NULL);

    if (managed)
        return NULL;
    return memory_format("This environment has no network: scripts cannot install packages. %s",
                         advice);
}

/* The hint for a run that reaches only HOSTS. */
static char *hint_hosts(const struct hint_facts *facts, char *const *hosts)
{
    AUTO_FREE char *list = NULL;

    if (!hint_was_refused_by_proxy(facts) &&
        (!hint_missed_network(facts) || hint_was_missed_by_proxy(facts)))
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

    if (!hint_missed_service(facts))
        return NULL;
    if (hint_is_contained(facts))
        return memory_copy_string(own);
    if (!hint_is_enforced(facts, LAYER_NETWORK))
        return NULL;
    if (other && environment_isolation(other) != ISOLATION_DOCKER)
        return memory_format("%s Environment \"%s\" has this machine's: call with environment: "
                             "\"%s\"%s.",
                             own, other->name, other->name, hint_new_session(facts));
    return memory_format("%s %s can open this machine's (network: true).", own,
                         hint_operator(facts));
}

static const char *hint_offline_advice(const struct hint_facts *facts)
{
    if (facts->is_at_terminal)
        return "";
    return hint_takes_files(facts) ? ": work with what is there, and pass data in `files`"
                                   : ": work with what is there";
}

/* The hint for a run without a network. */
static char *hint_closed_network(const struct hint_facts *facts)
{
    const struct environment *other = hint_find_network(facts);

    if (other)
        return memory_format("This environment has no network. Environment \"%s\" has one: call "
                             "with environment: \"%s\"%s.",
                             other->name, other->name, hint_new_session(facts));
    return memory_format("This environment has no network%s. %s can open it (network: %s).",
                         hint_offline_advice(facts), hint_operator(facts),
                         hint_is_contained(facts) ? "bridge" : "true");
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
    if (!said)
        said = hint_loopback(facts);
    return said || hosts || !hint_missed_connection(facts) ? said : hint_closed_network(facts);
}
