#include "server/transport/socket/activation.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/memory.h"
#include "server/transport/socket/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_FD = 3 }; /* SD_LISTEN_FDS_START */

static bool parse_number(const char *text, unsigned long *ret)
{
    char *end;

    if (!text || *text < '0' || *text > '9')
        return false;
    errno = 0;
    *ret = strtoul(text, &end, 10);
    return errno == 0 && *end == '\0';
}

/* How many the variables say; 0 where they are meant for another process. */
static int read_count(unsigned long *ret, struct error *err)
{
    const char *count = getenv("LISTEN_FDS");
    unsigned long pid;

    *ret = 0;
    if (!count || !parse_number(getenv("LISTEN_PID"), &pid) || pid != (unsigned long)getpid())
        return 0;
    if (!parse_number(count, ret) || *ret > ACTIVATION_SOCKETS)
        return error_set(err, ERROR_CONFIG, "LISTEN_FDS is not a number from 0 to %d",
                         ACTIVATION_SOCKETS);
    return 0;
}

static bool has_option(int fd, int option, int wanted)
{
    socklen_t length = sizeof(int);
    int value;

    return getsockopt(fd, SOL_SOCKET, option, &value, &length) == 0 && value == wanted;
}

static struct address activation_address_of(const char *name)
{
    static const struct {
        const char *name;
        struct address address;
    } protocols[] = {
        {"http", {.kind = ADDRESS_HTTP, .path = ADDRESS_HTTP_PATH}},
        {"https", {.kind = ADDRESS_HTTPS, .path = ADDRESS_HTTP_PATH}},
    };

    for (size_t i = 0; name && i < ARRAY_SIZE(protocols); i++)
        if (strcmp(protocols[i].name, name) == 0)
            return protocols[i].address;
    return (struct address){.kind = ADDRESS_SYSTEMD};
}

/* A token that crosses a network in clear can be read on its way. */
static bool activation_is_safe(const struct activation_socket *taken)
{
    return taken->endpoint.any.sa_family == AF_UNIX || endpoint_is_loopback(&taken->endpoint) ||
           taken->address.kind == ADDRESS_HTTPS;
}

static int activation_check(struct activation_socket *taken, struct error *err)
{
    const int fd = taken->fd;

    if (!has_option(fd, SO_TYPE, SOCK_STREAM) || !has_option(fd, SO_ACCEPTCONN, 1))
        return error_set(err, ERROR_CONFIG,
                         "descriptor %d is not a listening stream socket (ListenStream=, "
                         "Accept=no)",
                         fd);
    if (socket_get_endpoint(fd, &taken->endpoint, err) < 0)
        return -1;
    if (!activation_is_safe(taken))
        return error_set(err, ERROR_CONFIG,
                         "descriptor %d listens beyond this machine; only a socket named https "
                         "(FileDescriptorName=https) may",
                         fd);
    return 0;
}

static int activation_prepare(struct activation_socket *taken, struct error *err)
{
    if (fcntl(taken->fd, F_SETFD, FD_CLOEXEC) < 0)
        return error_set_errno(err, errno, "descriptor %d", taken->fd);
    if (activation_check(taken, err) < 0)
        return -1;
    return fd_set_nonblocking(taken->fd, err);
}

static void close_all(int count)
{
    for (int i = 0; i < count; i++)
        close(FIRST_FD + i);
}

/* The variables of the service manager, which are removed. *RET_NAMES, owned by the caller, or
 * NULL: a name for each socket, with colons between them. */
static int take_variables(unsigned long *ret_count, char **ret_names, struct error *err)
{
    const char *names = getenv("LISTEN_FDNAMES");
    const int status = read_count(ret_count, err);

    *ret_names = names ? memory_copy_string(names) : NULL;
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDNAMES");
    return status;
}

int activation_take(struct activation_socket ret[static ACTIVATION_SOCKETS], struct error *err)
{
    AUTO_FREE char *names = NULL;
    unsigned long count;
    char *rest;

    if (take_variables(&count, &names, err) < 0)
        return -1;
    rest = names;
    for (int i = 0; i < (int)count; i++) {
        ret[i].fd = FIRST_FD + i;
        ret[i].address = activation_address_of(strsep(&rest, ":"));
        if (activation_prepare(&ret[i], err) < 0) {
            close_all((int)count);
            return -1;
        }
    }
    return (int)count;
}
