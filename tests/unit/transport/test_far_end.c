#include "server/transport/socket/far_end.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

struct connection {
    int server;
    int client;
};

static struct connection connect_pair(int family)
{
    struct sockaddr_in6 ipv6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr_in ipv4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr *address =
        family == AF_INET ? (struct sockaddr *)&ipv4 : (struct sockaddr *)&ipv6;
    socklen_t length = family == AF_INET ? sizeof ipv4 : sizeof ipv6;
    int listener = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct connection connection = {.client = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)};

    if (bind(listener, address, length) < 0)
        skip(); /* no IPv6 here */
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, address, &length), 0);
    assert_int_equal(connect(connection.client, address, length), 0);
    connection.server = accept(listener, NULL, NULL);
    assert_true(connection.server >= 0);
    close(listener);
    return connection;
}

static void check_family(int family)
{
    struct connection connection = connect_pair(family);
    int other;

    assert_false(far_end_is_closed(connection.server));
    shutdown(connection.client, SHUT_WR);
    assert_false(far_end_is_closed(connection.server));
    other = dup(connection.client);
    close(connection.client);
    assert_false(far_end_is_closed(connection.server)); /* somebody else still holds it */
    close(other);
    assert_true(far_end_is_closed(connection.server));
    close(connection.server);
}

static void test_closing_is_told_from_half_closing_over_ipv4(void **state)
{
    (void)state;
    check_family(AF_INET);
}

static void test_closing_is_told_from_half_closing_over_ipv6(void **state)
{
    (void)state;
    check_family(AF_INET6);
}

static void test_other_kinds_of_descriptors_say_nothing(void **state)
{
    int ends[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    close(ends[1]);
    assert_false(far_end_is_closed(ends[0]));
    close(ends[0]);
    assert_int_equal(pipe(ends), 0);
    assert_false(far_end_is_closed(ends[0]));
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closing_is_told_from_half_closing_over_ipv4),
        cmocka_unit_test(test_closing_is_told_from_half_closing_over_ipv6),
        cmocka_unit_test(test_other_kinds_of_descriptors_say_nothing),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
