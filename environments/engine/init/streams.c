#include "base/descriptors.h"
#include "environments/engine/init/init.h"
#include "environments/engine/wire.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { STREAMS_SECONDS = 10, STREAMS_OUTPUTS = 2 };

/* The server answers at once, or has something else to do for a while. */
static int streams_connect(const char *path)
{
    const struct timeval patience = {.tv_sec = STREAMS_SECONDS};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

/* False: they do not come. */
static bool streams_ask(int fd, int outputs[STREAMS_OUTPUTS])
{
    size_t count = 0;
    char byte;

    return send(fd, WIRE_HELLO, WIRE_HELLO_BYTES, MSG_NOSIGNAL) == WIRE_HELLO_BYTES &&
           descriptors_receive(fd, &byte, 1, 0, outputs, STREAMS_OUTPUTS, &count) == 1 &&
           count == STREAMS_OUTPUTS;
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
