#include "base/descriptors.h"
#include "base/wire.h"
#include "environments/engine/init/init.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { STREAMS_SECONDS = 10, STREAMS_OUTPUTS = 2, STREAMS_EXIT = 71 };

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
static bool streams_keep(int outputs[STREAMS_OUTPUTS])
{
    outputs[0] = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    outputs[1] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    return outputs[0] >= 0 && outputs[1] >= 0;
}

/* False: the server does not answer. */
static bool streams_ask(int fd, int outputs[STREAMS_OUTPUTS])
{
    size_t count = 0;
    char byte;

    if (send(fd, WIRE_HELLO, WIRE_HELLO_BYTES, MSG_NOSIGNAL) != WIRE_HELLO_BYTES ||
        descriptors_receive(fd, &byte, 1, 0, outputs, STREAMS_OUTPUTS, &count) != 1)
        return false;
    return count > 0 || streams_keep(outputs);
}

int streams_take(const char *path, int outputs[STREAMS_OUTPUTS])
{
    const struct timeval forever = {.tv_sec = 0};
    int fd = streams_connect(path);
    int line = -1;

    if (fd < 0)
        return -1;
    if (streams_ask(fd, outputs)) {
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &forever, sizeof forever);
        line = dup2(fd, STDIN_FILENO);
    }
    close(fd);
    return line;
}
