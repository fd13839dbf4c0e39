/* Too many clients. */
#include "server/transport/transport.h"

#include "tests/unit/transport/served.h"
#include "tests/unit/transport/session_double.h"
#include "tests/unit/transport/turning.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>
#include <cmocka.h>

enum { CLIENTS = 16, FLOOD = 200 };

static const char no_room[] = "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32603,"
                              "\"message\":\"Too many connections; try again later\"}}\n";

static void test_one_peer_gets_so_many_connections(void **state)
{
    struct served *served = served_on_unix();
    int clients[3];

    (void)state;
    served->settings.limits.per_peer = 2;
    served_open(served);
    for (int i = 0; i < 3; i++)
        clients[i] = served_connect(served->unix_address);
    served_check_closed(served, clients[2], no_room);
    served_check_echo(served, clients[0]);
    served_check_echo(served, clients[1]);
    close(clients[0]);
    TURN_UNTIL(served->loop, session_double.live == 1);
    clients[0] = served_connect(served->unix_address);
    served_check_echo(served, clients[0]);
    close(clients[0]);
    close(clients[1]);
    served_free(served);
}

static void test_all_peers_together_get_so_many(void **state)
{
    struct served *served = served_on_tcp(NULL);
    int clients[3];

    (void)state;
    served->addresses[1] = served->unix_address;
    served->settings.limits.connections = 2;
    served_open(served);
    clients[0] = served_connect(served->unix_address);
    served_check_echo(served, clients[0]);
    clients[1] = served_connect(served->tcp_address);
    served_check_echo(served, clients[1]);
    clients[2] = served_connect(served->unix_address);
    served_check_closed(served, clients[2], no_room);
    close(clients[0]);
    close(clients[1]);
    served_free(served);
}

static void test_the_limit_per_peer_counts_after_the_token(void **state)
{
    struct served *served = served_on_tcp("secret");
    int clients[3];

    (void)state;
    served->settings.limits.per_peer = 2;
    served_open(served);
    for (int i = 0; i < 3; i++) {
        clients[i] = served_connect(served->tcp_address);
        turn_for(served->loop, 0.02);
    }
    for (int i = 0; i < 2; i++) {
        served_say(clients[i], "Authorization: Bearer secret\n");
        served_check_echo(served, clients[i]);
    }
    served_say(clients[2], "Authorization: Bearer secret\n");
    served_check_closed(served, clients[2], no_room);
    close(clients[0]);
    close(clients[1]);
    served_free(served);
}

static void test_clients_without_token_keep_nobody_out(void **state)
{
    struct served *served = served_on_tcp("secret");
    int silent[FLOOD];
    char text[16];
    int client;

    (void)state;
    served->settings.limits.connections = FLOOD / 2;
    served_open(served);
    for (int i = 0; i < FLOOD; i++) {
        silent[i] = served_connect(served->tcp_address);
        if (i % CLIENTS == 0)
            turn_once(served->loop);
    }
    client = served_connect(served->tcp_address);
    served_say(client, "Authorization: Bearer secret\n");
    served_check_echo(served, client);
    turn_until_closed(served->loop, silent[0], text, sizeof(text)); /* the oldest had to go */
    for (int i = 0; i < FLOOD; i++)
        close(silent[i]);
    close(client);
    served_free(served);
}

static void test_a_flood_of_connections_passes(void **state)
{
    struct served *served = served_on_unix();
    int clients[FLOOD];
    int client;

    (void)state;
    served_open(served);
    for (int i = 0; i < FLOOD; i++) {
        clients[i] = served_connect(served->unix_address);
        if (i % CLIENTS == 0)
            turn_once(served->loop);
    }
    served_check_echo(served, clients[0]);
    for (int i = 0; i < FLOOD; i++)
        close(clients[i]);
    TURN_UNTIL(served->loop, session_double.live == 0);
    client = served_connect(served->unix_address);
    served_check_echo(served, client);
    close(client);
    served_free(served);
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
    struct served *served = served_on_unix();
    struct rlimit before;
    int clients[3];
    char text[1];
    ev_tstamp start = ev_time();
    int next;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    served_open(served);
    clients[0] = served_connect(served->unix_address);
    served_check_echo(served, clients[0]);
    clients[1] = served_connect(served->unix_address);
    clients[2] = served_connect(served->unix_address);
    next = dup(STDERR_FILENO);
    close(next);
    limit_descriptors((rlim_t)next); /* all below it are in use */
    turn_until_closed(served->loop, clients[1], text, sizeof(text));
    turn_until_closed(served->loop, clients[2], text, sizeof(text));
    assert_true(ev_time() - start >= 0.1); /* one after the other, with a pause */
    served_check_echo(served, clients[0]);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    for (int i = 0; i < 3; i++)
        close(clients[i]);
    clients[0] = served_connect(served->unix_address);
    served_check_echo(served, clients[0]);
    close(clients[0]);
    served_free(served);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_peer_gets_so_many_connections),
        cmocka_unit_test(test_all_peers_together_get_so_many),
        cmocka_unit_test(test_the_limit_per_peer_counts_after_the_token),
        cmocka_unit_test(test_clients_without_token_keep_nobody_out),
        cmocka_unit_test(test_a_flood_of_connections_passes),
        cmocka_unit_test(test_without_descriptors_clients_are_sent_away_for_a_moment),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, served_set_up, served_tear_down);
}
