#include "server/transport/socket/activation.h"

#include "base/fd.h"
#include "server/transport/socket/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
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

static int activation_check(int fd, struct error *err)
{
    struct endpoint endpoint;

    if (!has_option(fd, SO_TYPE, SOCK_STREAM) || !has_option(fd, SO_ACCEPTCONN, 1))
        return error_set(err, ERROR_CONFIG,
                         "descriptor %d is not a listening stream socket (ListenStream=, "
                         "Accept=no)",
                         fd);
    if (socket_get_endpoint(fd, &endpoint, err) < 0)
        return -1;
    if (endpoint.any.sa_family != AF_UNIX && !endpoint_is_loopback(&endpoint))
        return error_set(err, ERROR_CONFIG,
                         "descriptor %d listens beyond this machine; only unix sockets and "
                         "loopback addresses are served",
                         fd);
    return 0;
}

static int activation_prepare(int fd, struct error *err)
{
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
        return error_set_errno(err, errno, "descriptor %d", fd);
    if (activation_check(fd, err) < 0)
        return -1;
    return fd_set_nonblocking(fd, err);
}

static void close_all(int count)
{
    for (int i = 0; i < count; i++)
        close(FIRST_FD + i);
}

int activation_take(int ret[static ACTIVATION_SOCKETS], struct error *err)
{
    unsigned long count;
    int status = read_count(&count, err);

    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDNAMES");
    if (status < 0)
        return -1;
    for (int i = 0; i < (int)count; i++) {
        ret[i] = FIRST_FD + i;
        if (activation_prepare(ret[i], err) < 0) {
            close_all((int)count);
            return -1;
        }
    }
    return (int)count;
}
