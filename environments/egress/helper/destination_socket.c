#include "environments/egress/helper/destination_socket.h"

#include "base/clock.h"
#include "environments/egress/public_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define DESTINATION_SECONDS         30.0 /* to connect, at all of its addresses */
#define DESTINATION_ADDRESS_SECONDS 10.0 /* at a single address */

enum {
    DESTINATION_REPORTS = 32, /* more than a person reads */
    DISCARD_PORT = 9,
};

enum { FORBIDDEN = 403, BAD_GATEWAY = 502, GATEWAY_TIMEOUT = 504 };

static int __attribute__((format(printf, 4, 5)))
destination_refuse(struct destination_refusal *refusal, unsigned status,
                   enum proxy_socks_reply reply, const char *format, ...)
{
    va_list arguments;

    refusal->status = status;
    refusal->reply = reply;
    va_start(arguments, format);
    vsnprintf(refusal->text, refusal->size, format, arguments);
    va_end(arguments);
    return -1;
}

static struct in6_addr destination_address_of(const void *end)
{
    if (((const struct sockaddr *)end)->sa_family == AF_INET6)
        return ((const struct sockaddr_in6 *)end)->sin6_addr;
    return public_address_map(&((const struct sockaddr_in *)end)->sin_addr);
}

/* Writes PORT at ADDRESS, which has been checked, to RET. Returns the size. */
static socklen_t destination_end(const struct in6_addr *address, uint16_t port,
                                 struct sockaddr_storage *ret)
{
    const struct sockaddr_in6 six = {
        .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = *address};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};

    if (!IN6_IS_ADDR_V4MAPPED(address)) {
        memcpy(ret, &six, sizeof six);
        return sizeof six;
    }
    memcpy(&four.sin_addr, &address->s6_addr[12], sizeof four.sin_addr);
    memcpy(ret, &four, sizeof four);
    return sizeof four;
}

/* True for an address of this machine: the kernel would also send from the same address. Nothing is
 * sent. */
static bool destination_is_own(const struct in6_addr *address)
{
    struct sockaddr_storage end;
    socklen_t length = destination_end(address, DISCARD_PORT, &end);
    socklen_t size = sizeof end;
    int fd = socket(end.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct in6_addr source = in6addr_any;

    if (fd < 0)
        return true; /* so it is not connected to */
    if (connect(fd, (const void *)&end, length) == 0 && getsockname(fd, (void *)&end, &size) == 0)
        source = destination_address_of(&end);
    close(fd);
    return IN6_ARE_ADDR_EQUAL(&source, address);
}

/* -1 with errno set. */
static int destination_await(int fd, double deadline)
{
    struct pollfd writable = {.fd = fd, .events = POLLOUT};
    double left = deadline - clock_seconds();
    socklen_t size = sizeof errno;
    int number = ETIMEDOUT;

    if (left > 0 && poll(&writable, 1, (int)(left * 1e3) + 1) > 0)
        (void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &number, &size);
    errno = number;
    return number ? -1 : 0;
}

/* -1 with errno set. */
static int destination_connect(int fd, const void *address, socklen_t size, double deadline)
{
    if (connect(fd, address, size) == 0)
        return 0;
    return errno == EINPROGRESS ? destination_await(fd, deadline) : -1;
}

/* A socket connected to PORT at ADDRESS. -1 with errno set. */
static int destination_open(const struct in6_addr *address, uint16_t port, double deadline)
{
    struct sockaddr_storage end;
    socklen_t size = destination_end(address, port, &end);
    int fd = socket(end.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int number;

    if (fd < 0)
        return -1;
    if (destination_connect(fd, &end, size, deadline) == 0)
        return fd;
    number = errno;
    close(fd);
    errno = number;
    return -1;
}

/* Tries the addresses in FOUND that are allowed, in turn. */
static int destination_try(const struct destinations *open, const struct destination *wanted,
                           const struct addrinfo *found, struct destination_refusal *refusal)
{
    const double deadline = clock_seconds() + DESTINATION_SECONDS;
    struct destination closed = {0};
    int number = 0;

    for (; found && clock_seconds() < deadline; found = found->ai_next) {
        const struct in6_addr address = destination_address_of(found->ai_addr);
        const double own = clock_seconds() + DESTINATION_ADDRESS_SECONDS;
        int fd;

        if (!destination_may_be_at(open, wanted, &address, destination_is_own(&address))) {
            destination_set_address(&closed, &address, wanted->port);
            continue;
        }
        fd = destination_open(&address, wanted->port, own < deadline ? own : deadline);
        if (fd >= 0)
            return fd;
        number = errno;
    }
    if (number)
        return destination_refuse(refusal, number == ETIMEDOUT ? GATEWAY_TIMEOUT : BAD_GATEWAY,
                                  PROXY_SOCKS_UNREACHABLE, "%s:%u: %s", wanted->host, wanted->port,
                                  strerror(number));
    return destination_refuse(refusal, FORBIDDEN, PROXY_SOCKS_CLOSED,
                              "%s:%u is at %s, which is %s: the operator has to name it, too "
                              "(network)",
                              wanted->host, wanted->port, closed.host,
                              public_address_is(&closed.address) ? "an address of this machine"
                                                                 : "no address of the internet");
}

/* Reports a refusal before the program gets it, so that the server has it when the program has
 * ended. The number of reports is limited, because the socket is. */
static void destination_report(const struct destination *wanted)
{
    static atomic_uint reports;
    char line[DESTINATION_HOST_BYTES + sizeof "[]:65535\n"];
    size_t length;

    destination_print(wanted, line, sizeof line - 1);
    length = strlen(line);
    line[length++] = '\n';
    if (atomic_fetch_add(&reports, 1) < DESTINATION_REPORTS)
        (void)send(STDIN_FILENO, line, length, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* A socket connected to NEXT, the destination or the proxy on the way to it. */
static int destination_resolve(const struct destinations *open, const struct destination *next,
                               struct destination_refusal *refusal)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = next->is_address ? AI_NUMERICHOST : 0};
    struct addrinfo *found;
    int problem;
    int fd;

    problem = getaddrinfo(next->host, NULL, &hints, &found);
    if (problem)
        return destination_refuse(refusal, BAD_GATEWAY, PROXY_SOCKS_UNREACHABLE, "%s: %s",
                                  next->host, gai_strerror(problem));
    fd = destination_try(open, next, found, refusal);
    freeaddrinfo(found);
    return fd;
}

int destination_socket(const struct destinations *open, const struct destination *wanted,
                       const struct upstream *upstream, struct destination_refusal *refusal)
{
    const struct destinations of_operator = {upstream ? &upstream->place : NULL, 1};

    if (!destination_is_open(open, wanted)) {
        destination_report(wanted);
        return destination_refuse(refusal, FORBIDDEN, PROXY_SOCKS_CLOSED,
                                  "%s:%u is not among the hosts that the operator has opened "
                                  "(network)",
                                  wanted->host, wanted->port);
    }
    if (upstream)
        return destination_resolve(&of_operator, &upstream->place, refusal);
    return destination_resolve(open, wanted, refusal);
}
