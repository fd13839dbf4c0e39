#include "environments/process/runner/runner.h"

#include <net/if.h>
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
