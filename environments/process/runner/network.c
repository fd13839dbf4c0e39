#include "environments/process/runner/network.h"

#include "base/descriptors.h"
#include "environments/process/policy.h"

#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

int network_prepare(void)
{
    const struct ifreq loopback = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int ret;

    if (fd < 0)
        return -1;
    ret = ioctl(fd, SIOCSIFFLAGS, &loopback);
    close(fd);
    return ret;
}

/* A socket stays in the network that it was made in, even if a process elsewhere holds it. */
static int network_listen(void)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons(SANDBOX_PROXY_PORT),
                                        .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd >= 0 && (bind(fd, (const struct sockaddr *)&address, sizeof address) < 0 ||
                    listen(fd, SOMAXCONN) < 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

int network_let_out(int outlet)
{
    int listener = network_listen();
    int ret = listener >= 0 && descriptors_send(outlet, "", 1, &listener, 1) == 1 ? 0 : -1;

    if (listener >= 0)
        close(listener);
    close(outlet);
    return ret;
}
