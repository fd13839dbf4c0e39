#include "environments/egress/egress.h"

#include "base/cleanup.h"
#include "base/list.h"
#include "base/log.h"
#include "base/memory.h"
#include "environments/egress/destination.h"
#include "environments/process/process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A thread and two small buffers for each of its connections. */
static const struct process_limits egress_limits = {
    .memory = 256ULL << 20, .processes = 160, .file_size = 1ULL << 20, /* it writes none */
};

struct egress {
    struct process process;
    bool is_stopped; /* nobody holds it any more */
    bool has_ended;
};

static void egress_on_output(struct process *process, enum process_stream stream, const char *data,
                             size_t length)
{
    (void)process;
    (void)stream;
    (void)data;
    (void)length; /* it says nothing */
}

static void egress_on_ended(struct process *process, const struct process_end *end)
{
    struct egress *egress = CONTAINER_OF(process, struct egress, process);

    egress->has_ended = true;
    if (egress->is_stopped) {
        free(egress);
        return;
    }
    log_warning("the proxy of a run has ended before it: %s",
                end->failure[0] ? end->failure : "it was killed, or could not work");
}

/* Where the machine resolves names by a file, the proxy does so as well. */
static int egress_start_helper(struct egress *egress, struct process_host *host, const char *helper,
                               char *const *hosts, int input, struct error *err)
{
    static const char *const variables[] = {"RES_OPTIONS=timeout:3 attempts:2", NULL};
    static const char hosts_file[] = "/etc/hosts";
    const char *const read[] = {helper, access(hosts_file, R_OK) == 0 ? hosts_file : NULL, NULL};
    const struct process_sandbox sandbox = {.read = read, .network = true};
    AUTO_FREE const char **arguments = NULL;
    struct process_command command = {
        .environment = variables,
        .directory = "/",
        .input = input,
        .sandbox = &sandbox,
        .limits = egress_limits,
    };
    size_t count = 0;

    while (hosts[count])
        count++;
    arguments = memory_new(count + 2, sizeof *arguments);
    arguments[0] = helper;
    for (size_t i = 0; i < count; i++)
        arguments[i + 1] = hosts[i];
    command.arguments = arguments;
    return process_start(host, &egress->process, &command, err);
}

struct egress *egress_start(struct process_host *host, const char *helper, char *const *hosts,
                            int *ret_outlet, struct error *err)
{
    AUTO_FREE struct egress *egress = NEW(struct egress);
    AUTO_CLOSE int ours = -1;
    AUTO_CLOSE int theirs = -1;
    int ends[2];

    egress->process.output = egress_on_output;
    egress->process.ended = egress_on_ended;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
        error_set_errno(err, errno, "socketpair");
        return NULL;
    }
    ours = ends[0];
    theirs = ends[1];
    if (egress_start_helper(egress, host, helper, hosts, theirs, err) < 0) {
        error_prefix(err, "cannot start the proxy of the run");
        return NULL;
    }
    *ret_outlet = STEAL_FD(ours);
    return STEAL_PTR(egress);
}

void egress_stop(struct egress *egress)
{
    if (!egress)
        return;
    egress->is_stopped = true;
    if (egress->has_ended)
        free(egress);
    else
        process_kill(&egress->process);
}

static bool egress_is_named(char *const *hosts, const char *name)
{
    struct destination destination;

    for (; *hosts; hosts++)
        if (destination_parse_rule(*hosts, &destination) && strcmp(destination.host, name) == 0)
            return true;
    return false;
}

/* The loopback of the run, unless the operator has opened that of the machine. Owned by the caller.
 */
static char *egress_direct(char *const *hosts)
{
    static const char *const own[] = {"localhost", "127.0.0.1", "::1"};
    char *list = memory_copy_string("");

    for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
        char *longer;

        if (egress_is_named(hosts, own[i]))
            continue;
        longer = memory_format("%s%s%s", list, *list ? "," : "", own[i]);
        free(list);
        list = longer;
    }
    return list;
}

char **egress_variables(char *const *hosts)
{
    /* Some programs read only these, and some only those. */
    static const char *const proxies[] = {
        "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy",
    };
    static const char *const direct[] = {"NO_PROXY", "no_proxy"};
    char **variables = memory_new(ARRAY_SIZE(proxies) + ARRAY_SIZE(direct) + 1, sizeof *variables);
    AUTO_FREE char *list = egress_direct(hosts);
    size_t count = 0;

    for (size_t i = 0; i < ARRAY_SIZE(proxies); i++)
        variables[count++] =
            memory_format("%s=http://127.0.0.1:%d", proxies[i], SANDBOX_PROXY_PORT);
    for (size_t i = 0; i < ARRAY_SIZE(direct); i++)
        variables[count++] = memory_format("%s=%s", direct[i], list);
    return variables;
}
