#include "server/transport/tcp_peer.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { PEERS = 2 };

/* Connected sockets; false where there is no such address. */
static bool make_pair(const struct sockaddr *loopback, socklen_t length, int ends[PEERS])
{
    struct sockaddr_storage address;
    int listener = socket(loopback->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (listener < 0 || bind(listener, loopback, length) < 0) {
        close(listener);
        return false;
    }
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &length), 0);
    ends[1] = socket(loopback->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(ends[1], (struct sockaddr *)&address, length), 0);
    ends[0] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    assert_true(ends[0] >= 0);
    close(listener);
    return true;
}

static void check_closing(const struct sockaddr *loopback, socklen_t length)
{
    char text[1];
    int ends[PEERS] = {-1, -1};
    int other;

    if (!make_pair(loopback, length, ends))
        skip();
    assert_false(tcp_peer_has_closed(ends[0]));
    shutdown(ends[1], SHUT_WR);
    assert_int_equal(read(ends[0], text, 1), 0);
    assert_false(tcp_peer_has_closed(ends[0]));
    other = dup(ends[1]);
    close(ends[1]);
    assert_false(tcp_peer_has_closed(ends[0])); /* somebody else still holds it */
    close(other);
    assert_true(tcp_peer_has_closed(ends[0]));
    close(ends[0]);
}

static void test_an_ipv4_peer_has_closed_when_nobody_holds_it(void **state)
{
    struct sockaddr_in loopback = {.sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    (void)state;
    check_closing((struct sockaddr *)&loopback, sizeof(loopback));
}

static void test_an_ipv6_peer_too(void **state)
{
    struct sockaddr_in6 loopback = {.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};

    (void)state;
    check_closing((struct sockaddr *)&loopback, sizeof(loopback));
}

static void test_other_descriptors_have_no_such_peer(void **state)
{
    int ends[PEERS];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    close(ends[1]);
    assert_false(tcp_peer_has_closed(ends[0]));
    close(ends[0]);
    assert_false(tcp_peer_has_closed(STDIN_FILENO));
    assert_false(tcp_peer_has_closed(-1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_ipv4_peer_has_closed_when_nobody_holds_it),
        cmocka_unit_test(test_an_ipv6_peer_too),
        cmocka_unit_test(test_other_descriptors_have_no_such_peer),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
