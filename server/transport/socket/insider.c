#include "server/transport/socket/insider.h"

#include "base/cleanup.h"
#include "server/transport/socket/descent.h"
#include "server/transport/socket/far_end.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

static enum insider insider_from(enum descent descent)
{
    static const enum insider answers[] = {
        [DESCENT_NONE] = INSIDER_NO,
        [DESCENT_OURS] = INSIDER_YES,
        [DESCENT_UNKNOWN] = INSIDER_UNKNOWN,
    };

    return answers[descent];
}

/* True unless the process that connected is known to have ended: its number may be another's by
 * now. */
static bool insider_is_alive(int fd)
{
    AUTO_CLOSE int process = -1;
    socklen_t length = sizeof process;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &process, &length) < 0)
        return errno == ENOPROTOOPT;
    return syscall(SYS_pidfd_send_signal, process, 0, NULL, 0) == 0 || errno == EPERM;
}

/* Scripts have our user. Processes that our PID namespace does not show have the number 0. */
static enum insider insider_find_process(int fd)
{
    struct ucred credentials;
    socklen_t length = sizeof credentials;
    enum descent descent;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) < 0)
        return INSIDER_UNKNOWN;
    if (credentials.uid != geteuid() || credentials.pid == 0)
        return INSIDER_NO;
    descent = descent_of(credentials.pid);
    return insider_is_alive(fd) ? insider_from(descent) : INSIDER_UNKNOWN;
}

/* A kernel that cannot be asked about sockets leaves the question open for all clients. They are
 * served. */
static enum insider insider_find_holder(int fd, const struct insider_judge *judge)
{
    enum insider found = INSIDER_UNKNOWN;
    struct far_end far_end;

    switch (far_end_find(fd, &far_end)) {
    case FAR_END_UNKNOWN:
        return INSIDER_NO;
    case FAR_END_CLOSED:
        return INSIDER_UNKNOWN;
    case FAR_END_HELD:
        break;
    }
    if (far_end.user != geteuid())
        return INSIDER_NO;
    if (judge->judge && far_end.cgroup > 0)
        found = judge->judge(judge->data, far_end.cgroup);
    return found == INSIDER_UNKNOWN ? insider_from(descent_of_socket(far_end.inode)) : found;
}

enum insider insider_find(int fd, const struct insider_judge *judge)
{
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;

    if (getsockname(fd, (struct sockaddr *)&address, &length) < 0)
        return INSIDER_UNKNOWN;
    return address.ss_family == AF_UNIX ? insider_find_process(fd) : insider_find_holder(fd, judge);
}
