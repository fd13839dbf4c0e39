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

enum {
    EGRESS_SAID_BYTES = 16 * 1024,
    EGRESS_REFUSED_MOST = 4, /* enough to see which places are missing */
};

/* A thread and two small buffers for each of its connections. */
static const struct process_limits egress_limits = {
    .memory = 256ULL << 20, .processes = 160, .file_size = 1ULL << 20, /* it writes no files */
};

struct egress {
    struct process process;
    int outlet;      /* owned */
    bool is_stopped; /* nobody holds it any more */
    bool has_ended;
};

static void egress_on_output(struct process *process, enum process_stream stream, const char *data,
                             size_t length)
{
    (void)process;
    (void)stream;
    (void)data;
    (void)length; /* the proxy writes nothing */
}

static void egress_free(struct egress *egress)
{
    close(egress->outlet);
    free(egress);
}

static void egress_on_ended(struct process *process, const struct process_end *end)
{
    struct egress *egress = CONTAINER_OF(process, struct egress, process);

    egress->has_ended = true;
    if (egress->is_stopped) {
        egress_free(egress);
        return;
    }
    log_warning("the proxy of a run has ended before it: %s",
                end->failure[0] ? end->failure : "it was killed, or could not work");
}

/* The arguments of the HELPER; its strings are borrowed. Owned by the caller. */
static const char **egress_arguments(const char *helper, const struct egress_way *way)
{
    const char **arguments = memory_new(3, sizeof *arguments);
    size_t count = 0;

    arguments[count++] = helper;
    for (char *const *host = way->hosts; host && *host; host++) {
        arguments = memory_resize(arguments, (count + 4) * sizeof *arguments);
        arguments[count++] = *host;
    }
    arguments[count++] = EGRESS_ANYWHERE;
    for (char *const *host = way->anywhere; host && *host; host++) {
        arguments = memory_resize(arguments, (count + 2) * sizeof *arguments);
        arguments[count++] = *host;
    }
    arguments[count] = NULL;
    return arguments;
}

/* The variables of the helper; the strings are borrowed. Owned by the caller. */
static const char **egress_helper_variables(const struct egress_way *way)
{
    const char **variables;
    size_t count = 0;

    while (way->proxies && way->proxies[count])
        count++;
    variables = memory_new(count + 2, sizeof *variables);
    for (size_t i = 0; i < count; i++)
        variables[i] = way->proxies[i];
    variables[count] = "RES_OPTIONS=timeout:3 attempts:2";
    return variables;
}

/* Where the machine resolves names by a file, the proxy does so as well. */
static int egress_start_helper(struct egress *egress, struct process_host *host, const char *helper,
                               const struct egress_way *way, int input, struct error *err)
{
    static const char hosts_file[] = "/etc/hosts";
    const char *const read[] = {helper, access(hosts_file, R_OK) == 0 ? hosts_file : NULL, NULL};
    const struct process_sandbox sandbox = {.read = read, .network = true};
    AUTO_FREE const char **arguments = egress_arguments(helper, way);
    AUTO_FREE const char **variables = egress_helper_variables(way);
    const struct process_command command = {
        .arguments = arguments,
        .environment = variables,
        .directory = "/",
        .input = input,
        .sandbox = &sandbox,
        .limits = egress_limits,
    };

    return process_start(host, &egress->process, &command, err);
}

struct egress *egress_start(struct process_host *host, const char *helper,
                            const struct egress_way *way, struct error *err)
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
    if (egress_start_helper(egress, host, helper, way, theirs, err) < 0) {
        error_prefix(err, "cannot start the proxy of the run");
        return NULL;
    }
    egress->outlet = STEAL_FD(ours);
    return STEAL_PTR(egress);
}

int egress_outlet(const struct egress *egress)
{
    return egress->outlet;
}

/* Whether the first COUNT of LINES have LINE. */
static bool egress_has_line(char *const *lines, size_t count, const char *line)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(lines[i], line) == 0)
            return true;
    return false;
}

/* The proxy reports each refusal before it answers the program. */
char *egress_refused(struct egress *egress)
{
    char said[EGRESS_SAID_BYTES + 1];
    ssize_t length = recv(egress->outlet, said, EGRESS_SAID_BYTES, MSG_DONTWAIT);
    char *lines[EGRESS_REFUSED_MOST];
    char *all = NULL;
    char *rest = said;
    size_t count = 0;

    said[length > 0 ? length : 0] = '\0';
    while (count < EGRESS_REFUSED_MOST && strchr(rest, '\n')) {
        char *longer;

        lines[count] = strsep(&rest, "\n");
        if (egress_has_line(lines, count, lines[count]))
            continue;
        longer = memory_format("%s%s%s", all ? all : "", all ? ", " : "", lines[count++]);
        free(all);
        all = longer;
    }
    return all;
}

void egress_stop(struct egress *egress)
{
    if (!egress)
        return;
    egress->is_stopped = true;
    if (egress->has_ended)
        egress_free(egress);
    else
        process_kill(&egress->process);
}

static bool egress_is_named(char *const *hosts, const char *name)
{
    struct destination destination;

    for (; hosts && *hosts; hosts++)
        if (destination_parse_rule(*hosts, &destination) && strcmp(destination.host, name) == 0)
            return true;
    return false;
}

/* The loopback of the run, unless the operator has opened the machine's loopback. Owned by the
 * caller. */
static char *egress_direct(const struct egress_way *way)
{
    static const char *const own[] = {"localhost", "127.0.0.1", "::1"};
    char *list = memory_copy_string("");

    for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
        char *longer;

        if (egress_is_named(way->hosts, own[i]) || egress_is_named(way->anywhere, own[i]))
            continue;
        longer = memory_format("%s%s%s", list, *list ? "," : "", own[i]);
        free(list);
        list = longer;
    }
    return list;
}

char **egress_variables(const struct egress_way *way)
{
    /* Some programs read only the capital names, others only the small ones. */
    static const char *const proxies[] = {
        "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy",
    };
    static const char *const direct[] = {"NO_PROXY", "no_proxy"};
    char **variables = memory_new(ARRAY_SIZE(proxies) + ARRAY_SIZE(direct) + 1, sizeof *variables);
    AUTO_FREE char *list = egress_direct(way);
    size_t count = 0;

    for (size_t i = 0; i < ARRAY_SIZE(proxies); i++)
        variables[count++] =
            memory_format("%s=http://127.0.0.1:%d", proxies[i], SANDBOX_PROXY_PORT);
    for (size_t i = 0; i < ARRAY_SIZE(direct); i++)
        variables[count++] = memory_format("%s=%s", direct[i], list);
    return variables;
}
