#include "server/transport/transport.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "server/transport/connections.h"
#include "server/transport/identity/authority.h"
#include "server/transport/socket/address.h"
#include "tests/unit/transport/session_double.h"
#include "tests/unit/transport/turning.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

enum {
    NOBODY = 65534,
    CLIENTS = 16,
    FLOOD = 200,
};

static const char no_room[] = "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32603,"
                              "\"message\":\"Too many connections; try again later\"}}\n";

static char folder[] = "/tmp/test_transport.XXXXXX";

struct fixture {
    struct ev_loop *loop;
    struct transport_settings settings;
    struct transport *transport;
    unsigned finishes;
    char unix_address[64];
    char tcp_address[64];
    const char *addresses[4];
};

static void on_finished(void *data)
{
    struct fixture *fixture = data;

    fixture->finishes++;
    ev_break(fixture->loop, EVBREAK_ALL);
}

static unsigned free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    assert_int_equal(bind(fd, (struct sockaddr *)&address, length), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    close(fd);
    return ntohs(address.sin_port);
}

static struct fixture *fixture_new(void)
{
    struct fixture *fixture = NEW(struct fixture);

    session_double_reset();
    fixture->loop = ev_loop_new(EVFLAG_AUTO);
    snprintf(fixture->unix_address, sizeof(fixture->unix_address), "unix:%s/socket", folder);
    snprintf(fixture->tcp_address, sizeof(fixture->tcp_address), "tcp:127.0.0.1:%u", free_port());
    fixture->settings = (struct transport_settings){
        .loop = fixture->loop,
        .addresses = fixture->addresses,
        .limits = transport_default_limits,
        .finished = on_finished,
        .data = fixture,
    };
    return fixture;
}

static void open_transport(struct fixture *fixture)
{
    struct error err = ERROR_INIT;

    fixture->transport = transport_open(&fixture->settings, &err);
    if (!fixture->transport)
        fail_msg("%s", err.message);
}

static struct fixture *serve_unix(void)
{
    struct fixture *fixture = fixture_new();

    fixture->addresses[0] = fixture->unix_address;
    return fixture;
}

static struct fixture *serve_tcp(const char *token)
{
    struct fixture *fixture = fixture_new();
    struct credential credential = {"alice"};

    fixture->addresses[0] = fixture->tcp_address;
    fixture->settings.auth_none = !token;
    if (!token)
        return fixture;
    credential.token = token_of(token, strlen(token));
    fixture->settings.authority = authority_new(&(struct authority_settings){
        .loop = fixture->loop,
        .credentials = &credential,
        .credential_count = 1,
    });
    return fixture;
}

static void fixture_free(struct fixture *fixture)
{
    transport_free(fixture->transport);
    authority_free(fixture->settings.authority);
    ev_loop_destroy(fixture->loop);
    free(fixture);
    assert_int_equal(session_double.live, 0);
}

static int connect_to(const char *text)
{
    struct address address;
    struct error err = ERROR_INIT;
    int fd;

    assert_int_equal(address_parse(text, &address, &err), 0);
    fd = socket(address.endpoints[0].any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, &address.endpoints[0].any, address.endpoints[0].length), 0);
    return fd;
}

static void say(int client, const char *bytes)
{
    assert_int_equal(send(client, bytes, strlen(bytes), MSG_NOSIGNAL), strlen(bytes));
}

static void check_echo(struct fixture *fixture, int client)
{
    say(client, "echo hello\n");
    turn_until_received(fixture->loop, client, "hello\n");
}

static void check_closed(struct fixture *fixture, int client, const char *farewell)
{
    char text[256];

    turn_until_closed(fixture->loop, client, text, sizeof(text));
    assert_string_equal(text, farewell);
    close(client);
}

static bool exists(const char *address)
{
    return access(strchr(address, ':') + 1, F_OK) == 0;
}

/* Serving */

static void test_unix_clients_are_served_as_their_user(void **state)
{
    struct fixture *fixture = serve_unix();
    char principal[32];
    int client;

    (void)state;
    open_transport(fixture);
    client = connect_to(fixture->unix_address);
    check_echo(fixture, client);
    snprintf(principal, sizeof(principal), "uid-%u", geteuid());
    assert_string_equal(session_double.principal, principal);
    close(client);
    TURN_UNTIL(fixture->loop, session_double.live == 0);
    fixture_free(fixture);
}

static void test_tcp_clients_show_the_token_first(void **state)
{
    struct fixture *fixture = serve_tcp("secret");
    int client;

    (void)state;
    open_transport(fixture);
    client = connect_to(fixture->tcp_address);
    say(client, "Authorization: Bearer secret\necho first\n");
    turn_until_received(fixture->loop, client, "first\n");
    assert_string_equal(session_double.principal, "alice");
    check_echo(fixture, client);
    close(client);
    client = connect_to(fixture->tcp_address);
    say(client, "echo hello\n");
    check_closed(fixture, client,
                 "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,"
                 "\"message\":\"Unauthorized\"}}\n");
    assert_int_equal(session_double.lines, 2);
    fixture_free(fixture);
}

static void test_tcp_clients_need_none_where_none_is_asked_for(void **state)
{
    struct fixture *fixture = serve_tcp(NULL);
    char text[512];
    int client;

    (void)state;
    open_transport(fixture);
    client = connect_to(fixture->tcp_address);
    check_echo(fixture, client);
    close(client);
    client = connect_to(fixture->tcp_address);
    say(client, "POST / HTTP/1.1\r\n\r\necho hello\n");
    turn_until_closed(fixture->loop, client, text, sizeof(text));
    assert_memory_equal(text, "HTTP/1.1 400", 12);
    assert_int_equal(session_double.lines, 1);
    close(client);
    fixture_free(fixture);
}

static void test_localhost_is_both_families_on_one_port(void **state)
{
    struct fixture *fixture = serve_tcp(NULL);
    char address[64];
    const char *port = strrchr(fixture->tcp_address, ':') + 1;
    char ipv6[64];
    int probe = socket(AF_INET6, SOCK_STREAM, 0);
    struct sockaddr_in6 loopback = {.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};
    bool has_ipv6 = probe >= 0 && bind(probe, (struct sockaddr *)&loopback, sizeof(loopback)) == 0;
    int client;

    (void)state;
    close(probe);
    snprintf(address, sizeof(address), "tcp:localhost:%s", port);
    snprintf(ipv6, sizeof(ipv6), "tcp:[::1]:%s", port);
    fixture->addresses[0] = address;
    open_transport(fixture);
    client = connect_to(fixture->tcp_address);
    check_echo(fixture, client);
    close(client);
    if (has_ipv6) {
        client = connect_to(ipv6);
        check_echo(fixture, client);
        close(client);
    }
    fixture_free(fixture);
}

static void test_several_addresses_are_served_at_once(void **state)
{
    struct fixture *fixture = serve_unix();
    int clients[2];

    (void)state;
    fixture->addresses[1] = fixture->tcp_address;
    fixture->settings.auth_none = true;
    open_transport(fixture);
    clients[0] = connect_to(fixture->unix_address);
    clients[1] = connect_to(fixture->tcp_address);
    check_echo(fixture, clients[0]);
    check_echo(fixture, clients[1]);
    close(clients[0]);
    close(clients[1]);
    fixture_free(fixture);
}

static void test_a_client_that_never_reads_delays_no_other(void **state)
{
    struct fixture *fixture = serve_unix();
    int idle;
    int client;

    (void)state;
    open_transport(fixture);
    idle = connect_to(fixture->unix_address);
    say(idle, "fill 16777216\nfill 16777216\n");
    TURN_UNTIL(fixture->loop, session_double.lines >= 1);
    client = connect_to(fixture->unix_address);
    for (int i = 0; i < 20; i++)
        check_echo(fixture, client);
    close(idle);
    close(client);
    fixture_free(fixture);
}

/* All or none */

static void check_fails(struct fixture *fixture, const char *complaint)
{
    struct error err = ERROR_INIT;

    assert_null(transport_open(&fixture->settings, &err));
    if (!strstr(err.message, complaint))
        fail_msg("\"%s\" does not say \"%s\"", err.message, complaint);
    assert_false(exists(fixture->unix_address));
    fixture_free(fixture);
}

static void test_one_bad_address_opens_none(void **state)
{
    struct fixture *fixture = serve_unix();

    (void)state;
    fixture->addresses[1] = "tcp:10.0.0.1:1";
    check_fails(fixture,
                "cannot serve tcp:10.0.0.1:1: everybody who reaches this machine could connect");
}

static void test_an_address_in_use_opens_none(void **state)
{
    struct fixture *fixture = serve_unix();
    char complaint[128];
    char first[64];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)state;
    snprintf(first, sizeof(first), "%s", fixture->tcp_address);
    address.sin_port = htons((in_port_t)strtoul(strrchr(first, ':') + 1, NULL, 10));
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(fd, 1), 0);
    fixture->addresses[1] = fixture->tcp_address;
    fixture->settings.auth_none = true;
    snprintf(complaint, sizeof(complaint), "cannot serve %s: cannot bind: Address already in use",
             first);
    check_fails(fixture, complaint);
    close(fd);
}

static void test_tcp_needs_a_token_or_a_word(void **state)
{
    struct fixture *fixture = serve_unix();

    (void)state;
    fixture->addresses[1] = "tcp:127.0.0.1:0";
    check_fails(fixture, "name a `token_file` or `oauth`, or write `auth: none`");
}

static void test_other_machines_need_a_token(void **state)
{
    struct fixture *fixture = serve_tcp(NULL);

    (void)state;
    fixture->addresses[0] = "tcp:0.0.0.0:0";
    check_fails(fixture, "`auth: none` is for loopback addresses only");
}

static void test_with_a_token_other_machines_may_connect(void **state)
{
    struct fixture *fixture = serve_tcp("secret");

    (void)state;
    fixture->addresses[0] = "tcp:0.0.0.0:0";
    open_transport(fixture);
    fixture_free(fixture);
}

static void test_an_address_named_twice_is_refused(void **state)
{
    struct fixture *fixture = serve_unix();

    (void)state;
    fixture->addresses[1] = fixture->unix_address;
    check_fails(fixture, "another server listens there");
    fixture = fixture_new();
    fixture->addresses[0] = "stdio";
    fixture->addresses[1] = "stdio";
    check_fails(fixture, "cannot serve stdio: it is named twice");
}

static void test_systemd_without_sockets_is_refused(void **state)
{
    struct fixture *fixture = serve_unix();

    (void)state;
    fixture->addresses[1] = "systemd";
    check_fails(fixture, "cannot serve systemd: no sockets were handed over (LISTEN_FDS)");
}

/* The end */

static void test_stop_ends_all_and_says_so_once(void **state)
{
    struct fixture *fixture = serve_tcp("secret");
    int clients[3];

    (void)state;
    fixture->addresses[1] = fixture->unix_address;
    open_transport(fixture);
    clients[0] = connect_to(fixture->unix_address);
    say(clients[0], "call\n");
    clients[1] = connect_to(fixture->unix_address);
    say(clients[1], "call\n");
    clients[2] = connect_to(fixture->tcp_address);
    TURN_UNTIL(fixture->loop, session_double.lines == 2);
    turn_for(fixture->loop, 0.05);
    transport_stop(fixture->transport);
    assert_false(exists(fixture->unix_address));
    assert_int_equal(fixture->finishes, 0); /* not from inside */
    ev_run(fixture->loop, 0);               /* ends by on_finished alone */
    assert_int_equal(fixture->finishes, 1);
    assert_int_equal(session_double.cancelled, 2);
    assert_int_equal(session_double.live, 0);
    for (int i = 0; i < 3; i++)
        check_closed(fixture, clients[i], "");
    turn_for(fixture->loop, 0.05);
    assert_int_equal(fixture->finishes, 1);
    fixture_free(fixture);
}

static void test_stop_without_connections_says_so_too(void **state)
{
    struct fixture *fixture = serve_unix();

    (void)state;
    open_transport(fixture);
    transport_stop(fixture->transport);
    ev_run(fixture->loop, 0);
    assert_int_equal(fixture->finishes, 1);
    fixture_free(fixture);
}

static void test_a_socket_that_was_replaced_is_left(void **state)
{
    struct fixture *fixture = serve_unix();
    AUTO_FREE char *path = memory_copy_string(strchr(fixture->unix_address, ':') + 1);

    (void)state;
    open_transport(fixture);
    assert_int_equal(unlink(path), 0);
    close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    fixture_free(fixture);
    assert_int_equal(unlink(path), 0);
}

/* Runs BODY with pipes as standard input and output, in a child. */
static void with_standard_io(void (*body)(struct fixture *fixture, int in, int out))
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        struct fixture *fixture = fixture_new();
        int input[2];
        int output[2];

        if (pipe2(input, O_CLOEXEC) < 0 || pipe2(output, O_CLOEXEC) < 0 ||
            dup2(input[0], STDIN_FILENO) < 0 || dup2(output[1], STDOUT_FILENO) < 0)
            _exit(99);
        close(input[0]);
        close(output[1]);
        fixture->addresses[0] = "stdio";
        body(fixture, input[1], output[0]);
        fixture_free(fixture);
        exit(0); /* lets a sanitizer look for leaks */
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

#define CHECK(CONDITION)                                                                           \
    do {                                                                                           \
        if (!(CONDITION)) {                                                                        \
            fprintf(stderr, "line %d: %s\n", __LINE__, #CONDITION);                                \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static bool has_line(int fd, const char *wanted)
{
    char text[64] = "";

    return read(fd, text, sizeof(text) - 1) == (ssize_t)strlen(wanted) && strcmp(text, wanted) == 0;
}

static void stdio_ends(struct fixture *fixture, int in, int out)
{
    open_transport(fixture);
    CHECK(write(in, "echo hello\ncall\n", 16) == 16);
    close(in);
    ev_run(fixture->loop, 0);
    CHECK(fixture->finishes == 1);
    CHECK(session_double.cancelled == 1);
    CHECK(has_line(out, "hello\n"));
}

static void test_the_end_of_stdio_is_the_end_of_the_server(void **state)
{
    ev_tstamp start = ev_time();

    (void)state;
    with_standard_io(stdio_ends);
    assert_true(ev_time() - start >= 0.9); /* the call had its grace */
    assert_true(ev_time() - start < 2);
}

static void stdio_breaks(struct fixture *fixture, int in, int out)
{
    open_transport(fixture);
    close(out);
    CHECK(write(in, "call\necho hello\n", 16) == 16);
    ev_run(fixture->loop, 0);
    CHECK(fixture->finishes == 1);
    CHECK(session_double.cancelled == 1);
    close(in);
}

static void test_a_broken_stdout_ends_it_at_once(void **state)
{
    ev_tstamp start = ev_time();

    (void)state;
    with_standard_io(stdio_breaks);
    assert_true(ev_time() - start < 1);
}

static void stdio_and_unix(struct fixture *fixture, int in, int out)
{
    int client;

    (void)out;
    fixture->addresses[1] = fixture->unix_address;
    open_transport(fixture);
    client = connect_to(fixture->unix_address);
    say(client, "call\n");
    TURN_UNTIL(fixture->loop, session_double.lines == 1);
    close(client);
    TURN_UNTIL(fixture->loop, session_double.cancelled == 1);
    CHECK(fixture->finishes == 0); /* a socket's client is not the one */
    close(in);
    ev_run(fixture->loop, 0);
    CHECK(fixture->finishes == 1);
}

static void test_clients_of_sockets_come_and_go_beside_stdio(void **state)
{
    (void)state;
    with_standard_io(stdio_and_unix);
}

static void service_manager(struct fixture *fixture, int in, int out)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char text[64] = "";
    int manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    (void)out;
    snprintf(address.sun_path, sizeof(address.sun_path), "%s/manager", folder);
    CHECK(bind(manager, (struct sockaddr *)&address, sizeof(address)) == 0);
    setenv("NOTIFY_SOCKET", address.sun_path, 1);
    open_transport(fixture);
    CHECK(has_line(manager, "READY=1"));
    transport_stop(fixture->transport);
    CHECK(has_line(manager, "STOPPING=1"));
    ev_run(fixture->loop, 0);
    CHECK(recv(manager, text, sizeof(text), 0) < 0); /* said once */
    close(manager);
    close(in);
}

static void test_the_service_manager_hears_of_both_ends(void **state)
{
    (void)state;
    with_standard_io(service_manager);
}

/* Too many */

static void test_one_peer_gets_so_many_connections(void **state)
{
    struct fixture *fixture = serve_unix();
    int clients[3];

    (void)state;
    fixture->settings.limits.per_peer = 2;
    open_transport(fixture);
    for (int i = 0; i < 3; i++)
        clients[i] = connect_to(fixture->unix_address);
    check_closed(fixture, clients[2], no_room);
    check_echo(fixture, clients[0]);
    check_echo(fixture, clients[1]);
    close(clients[0]);
    TURN_UNTIL(fixture->loop, session_double.live == 1);
    clients[0] = connect_to(fixture->unix_address);
    check_echo(fixture, clients[0]);
    close(clients[0]);
    close(clients[1]);
    fixture_free(fixture);
}

static void test_all_peers_together_get_so_many(void **state)
{
    struct fixture *fixture = serve_tcp(NULL);
    int clients[3];

    (void)state;
    fixture->addresses[1] = fixture->unix_address;
    fixture->settings.limits.connections = 2;
    open_transport(fixture);
    clients[0] = connect_to(fixture->unix_address);
    check_echo(fixture, clients[0]);
    clients[1] = connect_to(fixture->tcp_address);
    check_echo(fixture, clients[1]);
    clients[2] = connect_to(fixture->unix_address);
    check_closed(fixture, clients[2], no_room);
    close(clients[0]);
    close(clients[1]);
    fixture_free(fixture);
}

static void test_the_limit_per_peer_counts_after_the_token(void **state)
{
    struct fixture *fixture = serve_tcp("secret");
    int clients[3];

    (void)state;
    fixture->settings.limits.per_peer = 2;
    open_transport(fixture);
    for (int i = 0; i < 3; i++) {
        clients[i] = connect_to(fixture->tcp_address);
        turn_for(fixture->loop, 0.02);
    }
    for (int i = 0; i < 2; i++) {
        say(clients[i], "Authorization: Bearer secret\n");
        check_echo(fixture, clients[i]);
    }
    say(clients[2], "Authorization: Bearer secret\n");
    check_closed(fixture, clients[2], no_room);
    close(clients[0]);
    close(clients[1]);
    fixture_free(fixture);
}

static void test_clients_without_token_keep_nobody_out(void **state)
{
    struct fixture *fixture = serve_tcp("secret");
    int silent[FLOOD];
    char text[16];
    int client;

    (void)state;
    fixture->settings.limits.connections = FLOOD / 2;
    open_transport(fixture);
    for (int i = 0; i < FLOOD; i++) {
        silent[i] = connect_to(fixture->tcp_address);
        if (i % CLIENTS == 0)
            turn_once(fixture->loop);
    }
    client = connect_to(fixture->tcp_address);
    say(client, "Authorization: Bearer secret\n");
    check_echo(fixture, client);
    turn_until_closed(fixture->loop, silent[0], text, sizeof(text)); /* the oldest had to go */
    for (int i = 0; i < FLOOD; i++)
        close(silent[i]);
    close(client);
    fixture_free(fixture);
}

static void test_a_flood_of_connections_passes(void **state)
{
    struct fixture *fixture = serve_unix();
    int clients[FLOOD];
    int client;

    (void)state;
    open_transport(fixture);
    for (int i = 0; i < FLOOD; i++) {
        clients[i] = connect_to(fixture->unix_address);
        if (i % CLIENTS == 0)
            turn_once(fixture->loop);
    }
    check_echo(fixture, clients[0]);
    for (int i = 0; i < FLOOD; i++)
        close(clients[i]);
    TURN_UNTIL(fixture->loop, session_double.live == 0);
    client = connect_to(fixture->unix_address);
    check_echo(fixture, client);
    close(client);
    fixture_free(fixture);
}

static void limit_descriptors(rlim_t limit)
{
    struct rlimit limits;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limits), 0);
    limits.rlim_cur = limit;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limits), 0);
}

static void test_without_descriptors_clients_are_sent_away_for_a_moment(void **state)
{
    struct fixture *fixture = serve_unix();
    struct rlimit before;
    int clients[3];
    char text[1];
    ev_tstamp start = ev_time();
    int next;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    open_transport(fixture);
    clients[0] = connect_to(fixture->unix_address);
    check_echo(fixture, clients[0]);
    clients[1] = connect_to(fixture->unix_address);
    clients[2] = connect_to(fixture->unix_address);
    next = dup(STDERR_FILENO);
    close(next);
    limit_descriptors((rlim_t)next); /* all below it are in use */
    turn_until_closed(fixture->loop, clients[1], text, sizeof(text));
    turn_until_closed(fixture->loop, clients[2], text, sizeof(text));
    assert_true(ev_time() - start >= 0.1); /* one after the other, with a pause */
    check_echo(fixture, clients[0]);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    for (int i = 0; i < 3; i++)
        close(clients[i]);
    clients[0] = connect_to(fixture->unix_address);
    check_echo(fixture, clients[0]);
    close(clients[0]);
    fixture_free(fixture);
}

/* Strangers */

static void test_another_user_may_not_connect(void **state)
{
    struct fixture *fixture;
    const char *path;
    pid_t pid;
    int status;

    (void)state;
    if (geteuid() != 0)
        skip();
    fixture = serve_unix();
    path = strchr(fixture->unix_address, ':') + 1;
    open_transport(fixture);
    assert_int_equal(chmod(folder, 0755), 0);
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
        turn_once(fixture->loop);
    }
    assert_int_equal(status, 0);
    assert_int_equal(session_double.lines, 0);
    assert_int_equal(chmod(folder, 0700), 0);
    fixture_free(fixture);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char path[64];

    (void)state;
    snprintf(path, sizeof(path), "%s/manager", folder);
    unlink(path);
    return rmdir(folder); /* fails when a test has left anything behind */
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
        cmocka_unit_test(test_the_end_of_stdio_is_the_end_of_the_server),
        cmocka_unit_test(test_a_broken_stdout_ends_it_at_once),
        cmocka_unit_test(test_clients_of_sockets_come_and_go_beside_stdio),
        cmocka_unit_test(test_the_service_manager_hears_of_both_ends),
        cmocka_unit_test(test_one_peer_gets_so_many_connections),
        cmocka_unit_test(test_all_peers_together_get_so_many),
        cmocka_unit_test(test_the_limit_per_peer_counts_after_the_token),
        cmocka_unit_test(test_clients_without_token_keep_nobody_out),
        cmocka_unit_test(test_a_flood_of_connections_passes),
        cmocka_unit_test(test_without_descriptors_clients_are_sent_away_for_a_moment),
        cmocka_unit_test(test_another_user_may_not_connect),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
