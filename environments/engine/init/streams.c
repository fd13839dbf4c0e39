#include "base/descriptors.h"
#include "base/wire.h"
#include "environments/engine/init/init.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    STREAMS_SECONDS = 10,
    STREAMS_OUTPUTS = 2,
    STREAMS_MOST = STREAMS_OUTPUTS + 1, /* and the tools */
    STREAMS_EXIT = 71,
};

/* The server answers at once, or has something else to do for a while. What hinders us must hinder
 * the program, too, which could pass for us: so a shortage that may pass ends us. */
static int streams_connect(const char *path)
{
    const struct timeval patience = {.tv_sec = STREAMS_SECONDS};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        _exit(STREAMS_EXIT);
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

/* The program prints to the engine. */
static bool streams_keep(struct streams *streams)
{
    streams->outputs[0] = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    streams->outputs[1] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    return streams->outputs[0] >= 0 && streams->outputs[1] >= 0;
}

/* The pipes come first, if there are any; then the tools. */
static bool streams_sort(struct streams *streams, const int *given, size_t count)
{
    const bool has_pipes = count >= STREAMS_OUTPUTS;

    streams->tools = count == 1 || count == STREAMS_MOST ? given[count - 1] : -1;
    if (has_pipes)
        memcpy(streams->outputs, given, sizeof streams->outputs);
    return has_pipes || streams_keep(streams);
}

/* False: the server does not answer. */
static bool streams_ask(int fd, struct streams *ret)
{
    int given[STREAMS_MOST];
    size_t count = 0;
    char byte;

    return send(fd, WIRE_HELLO, WIRE_HELLO_BYTES, MSG_NOSIGNAL) == WIRE_HELLO_BYTES &&
           descriptors_receive(fd, &byte, 1, 0, given, STREAMS_MOST, &count) == 1 &&
           streams_sort(ret, given, count);
}

int streams_take(const char *path, struct streams *ret)
{
    const struct timeval forever = {.tv_sec = 0};
    int fd = streams_connect(path);
    int line = -1;

    if (fd < 0)
        return -1;
    if (streams_ask(fd, ret)) {
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &forever, sizeof forever);
        line = dup2(fd, STDIN_FILENO);
    }
    close(fd);
    return line;
}
