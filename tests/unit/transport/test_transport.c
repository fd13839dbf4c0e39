#include "server/transport/transport.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "tests/unit/transport/served.h"
#include "tests/unit/transport/session_double.h"
#include "tests/unit/transport/turning.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

enum { NOBODY = 65534 };

static bool exists(const char *address)
{
    return access(strchr(address, ':') + 1, F_OK) == 0;
}

/* Serving */

static void test_unix_clients_are_served_as_their_user(void **state)
{
    struct served *served = served_on_unix();
    char principal[32];
    int client;

    (void)state;
    served_open(served);
    client = served_connect(served->unix_address);
    served_check_echo(served, client);
    snprintf(principal, sizeof(principal), "uid-%u", geteuid());
    assert_string_equal(session_double.principal, principal);
    close(client);
    TURN_UNTIL(served->loop, session_double.live == 0);
    served_free(served);
}

static void test_tcp_clients_show_the_token_first(void **state)
{
    struct served *served = served_on_tcp("secret");
    int client;

    (void)state;
    served_open(served);
    client = served_connect(served->tcp_address);
    served_say(client, "Authorization: Bearer secret\necho first\n");
    turn_until_received(served->loop, client, "first\n");
    assert_string_equal(session_double.principal, "alice");
    served_check_echo(served, client);
    close(client);
    client = served_connect(served->tcp_address);
    served_say(client, "echo hello\n");
    served_check_closed(served, client,
                        "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,"
                        "\"message\":\"Unauthorized\"}}\n");
    assert_int_equal(session_double.lines, 2);
    served_free(served);
}

static void test_tcp_clients_need_none_where_none_is_asked_for(void **state)
{
    struct served *served = served_on_tcp(NULL);
    char text[512];
    int client;

    (void)state;
    served_open(served);
    client = served_connect(served->tcp_address);
    served_check_echo(served, client);
    close(client);
    client = served_connect(served->tcp_address);
    served_say(client, "POST / HTTP/1.1\r\n\r\necho hello\n");
    turn_until_closed(served->loop, client, text, sizeof(text));
    assert_memory_equal(text, "HTTP/1.1 400", 12);
    assert_int_equal(session_double.lines, 1);
    close(client);
    served_free(served);
}

static void test_localhost_is_both_families_on_one_port(void **state)
{
    struct served *served = served_on_tcp(NULL);
    char address[64];
    const char *port = strrchr(served->tcp_address, ':') + 1;
    char ipv6[64];
    int probe = socket(AF_INET6, SOCK_STREAM, 0);
    struct sockaddr_in6 loopback = {.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};
    bool has_ipv6 = probe >= 0 && bind(probe, (struct sockaddr *)&loopback, sizeof(loopback)) == 0;
    int client;

    (void)state;
    close(probe);
    snprintf(address, sizeof(address), "tcp:localhost:%s", port);
    snprintf(ipv6, sizeof(ipv6), "tcp:[::1]:%s", port);
    served->addresses[0] = address;
    served_open(served);
    client = served_connect(served->tcp_address);
    served_check_echo(served, client);
    close(client);
    if (has_ipv6) {
        client = served_connect(ipv6);
        served_check_echo(served, client);
        close(client);
    }
    served_free(served);
}

static void test_several_addresses_are_served_at_once(void **state)
{
    struct served *served = served_on_unix();
    int clients[2];

    (void)state;
    served->addresses[1] = served->tcp_address;
    served->settings.auth_none = true;
    served_open(served);
    clients[0] = served_connect(served->unix_address);
    clients[1] = served_connect(served->tcp_address);
    served_check_echo(served, clients[0]);
    served_check_echo(served, clients[1]);
    close(clients[0]);
    close(clients[1]);
    served_free(served);
}

static void test_a_client_that_never_reads_delays_no_other(void **state)
{
    struct served *served = served_on_unix();
    int idle;
    int client;

    (void)state;
    served_open(served);
    idle = served_connect(served->unix_address);
    served_say(idle, "fill 16777216\nfill 16777216\n");
    TURN_UNTIL(served->loop, session_double.lines >= 1);
    client = served_connect(served->unix_address);
    for (int i = 0; i < 20; i++)
        served_check_echo(served, client);
    close(idle);
    close(client);
    served_free(served);
}

/* All or none */

static void check_fails(struct served *served, const char *complaint)
{
    struct error err = ERROR_INIT;

    assert_null(transport_open(&served->settings, &err));
    if (!strstr(err.message, complaint))
        fail_msg("\"%s\" does not say \"%s\"", err.message, complaint);
    assert_false(exists(served->unix_address));
    served_free(served);
}

static void test_one_bad_address_opens_none(void **state)
{
    struct served *served = served_on_unix();

    (void)state;
    served->addresses[1] = "tcp:10.0.0.1:1";
    check_fails(served,
                "cannot serve tcp:10.0.0.1:1: everybody who reaches this machine could connect");
}

static void test_an_address_in_use_opens_none(void **state)
{
    struct served *served = served_on_unix();
    char complaint[128];
    char first[64];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)state;
    snprintf(first, sizeof(first), "%s", served->tcp_address);
    address.sin_port = htons((in_port_t)strtoul(strrchr(first, ':') + 1, NULL, 10));
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(fd, 1), 0);
    served->addresses[1] = served->tcp_address;
    served->settings.auth_none = true;
    snprintf(complaint, sizeof(complaint), "cannot serve %s: cannot bind: Address already in use",
             first);
    check_fails(served, complaint);
    close(fd);
}

static void test_tcp_needs_a_token_or_a_word(void **state)
{
    struct served *served = served_on_unix();

    (void)state;
    served->addresses[1] = "tcp:127.0.0.1:0";
    check_fails(served, "name a `token_file` (--token-file) or `oauth`, or write `auth: none`");
}

static void test_other_machines_need_a_token(void **state)
{
    struct served *served = served_on_tcp(NULL);

    (void)state;
    served->addresses[0] = "tcp:0.0.0.0:0";
    check_fails(served, "`auth: none` is for loopback addresses only");
}

static void test_with_a_token_other_machines_may_connect(void **state)
{
    struct served *served = served_on_tcp("secret");

    (void)state;
    served->addresses[0] = "tcp:0.0.0.0:0";
    served_open(served);
    served_free(served);
}

static void test_an_address_named_twice_is_refused(void **state)
{
    struct served *served = served_on_unix();

    (void)state;
    served->addresses[1] = served->unix_address;
    check_fails(served, "another server listens there");
    served = served_new();
    served->addresses[0] = "stdio";
    served->addresses[1] = "stdio";
    check_fails(served, "cannot serve stdio: it is named twice");
}

static void test_systemd_without_sockets_is_refused(void **state)
{
    struct served *served = served_on_unix();

    (void)state;
    served->addresses[1] = "systemd";
    check_fails(served, "cannot serve systemd: no sockets were handed over (LISTEN_FDS)");
}

/* The end */

static void test_stop_ends_all_and_says_so_once(void **state)
{
    struct served *served = served_on_tcp("secret");
    int clients[3];

    (void)state;
    served->addresses[1] = served->unix_address;
    served_open(served);
    clients[0] = served_connect(served->unix_address);
    served_say(clients[0], "call\n");
    clients[1] = served_connect(served->unix_address);
    served_say(clients[1], "call\n");
    clients[2] = served_connect(served->tcp_address);
    TURN_UNTIL(served->loop, session_double.lines == 2);
    turn_for(served->loop, 0.05);
    transport_stop(served->transport);
    assert_false(exists(served->unix_address));
    assert_int_equal(served->finishes, 0); /* not from inside */
    ev_run(served->loop, 0);               /* ends by on_finished alone */
    assert_int_equal(served->finishes, 1);
    assert_int_equal(session_double.cancelled, 2);
    assert_int_equal(session_double.live, 0);
    for (int i = 0; i < 3; i++)
        served_check_closed(served, clients[i], "");
    turn_for(served->loop, 0.05);
    assert_int_equal(served->finishes, 1);
    served_free(served);
}

static void test_stop_without_connections_says_so_too(void **state)
{
    struct served *served = served_on_unix();

    (void)state;
    served_open(served);
    transport_stop(served->transport);
    ev_run(served->loop, 0);
    assert_int_equal(served->finishes, 1);
    served_free(served);
}

static void test_a_socket_that_was_replaced_is_left(void **state)
{
    struct served *served = served_on_unix();
    AUTO_FREE char *path = memory_copy_string(strchr(served->unix_address, ':') + 1);

    (void)state;
    served_open(served);
    assert_int_equal(unlink(path), 0);
    close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    served_free(served);
    assert_int_equal(unlink(path), 0);
}

/* Strangers */

static void test_another_user_may_not_connect(void **state)
{
    struct served *served;
    const char *path;
    pid_t pid;
    int status;

    (void)state;
    if (geteuid() != 0)
        skip();
    served = served_on_unix();
    path = strchr(served->unix_address, ':') + 1;
    served_open(served);
    assert_int_equal(chmod(served_folder(), 0755), 0);
    assert_int_equal(chmod(path, 0666), 0); /* as if somebody had been careless */
    pid = fork();
    if (pid == 0) {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        char text[1];

        snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
        if (setuid(NOBODY) < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
            _exit(2);
        (void)!write(fd, "echo hello\n", 11);
        _exit(read(fd, text, 1) > 0);
    }
    for (int i = 0; waitpid(pid, &status, WNOHANG) == 0; i++) {
        assert_true(i < 1000);
        turn_once(served->loop);
    }
    assert_int_equal(status, 0);
    assert_int_equal(session_double.lines, 0);
    assert_int_equal(chmod(served_folder(), 0700), 0);
    served_free(served);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unix_clients_are_served_as_their_user),
        cmocka_unit_test(test_tcp_clients_show_the_token_first),
        cmocka_unit_test(test_tcp_clients_need_none_where_none_is_asked_for),
        cmocka_unit_test(test_localhost_is_both_families_on_one_port),
        cmocka_unit_test(test_several_addresses_are_served_at_once),
        cmocka_unit_test(test_a_client_that_never_reads_delays_no_other),
        cmocka_unit_test(test_one_bad_address_opens_none),
        cmocka_unit_test(test_an_address_in_use_opens_none),
        cmocka_unit_test(test_tcp_needs_a_token_or_a_word),
        cmocka_unit_test(test_other_machines_need_a_token),
        cmocka_unit_test(test_with_a_token_other_machines_may_connect),
        cmocka_unit_test(test_an_address_named_twice_is_refused),
        cmocka_unit_test(test_systemd_without_sockets_is_refused),
        cmocka_unit_test(test_stop_ends_all_and_says_so_once),
        cmocka_unit_test(test_stop_without_connections_says_so_too),
        cmocka_unit_test(test_a_socket_that_was_replaced_is_left),
        cmocka_unit_test(test_another_user_may_not_connect),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, served_set_up, served_tear_down);
}
