#include "server/transport/connections.h"

#include "base/memory.h"
#include "tests/unit/transport/free_port.h"
#include "tests/unit/transport/served.h"
#include "tests/unit/transport/session_double.h"
#include "tests/unit/transport/turning.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* Over HTTP; test_transport.c has those that speak in lines. */

enum { CROWD = 300 };

#define REQUEST  "GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n"
#define RESPONSE "HTTP/1.1 204 No Content\r\n\r\n"

struct fixture {
    struct ev_loop *loop;
    struct transport_settings settings;
    struct transport *transport;
    struct http_service service;
    unsigned gone;
    bool finished;
    char addresses[2][128];
    const char *list[3];
};

static void on_head(struct http_service *service, struct http_exchange *exchange)
{
    const struct entrance *entrance = exchange->entrance;

    (void)service;
    if (strcmp(exchange->head.path, entrance->path) != 0)
        http_refuse(exchange, 404, "", -32000, "There is nothing at this path");
    else
        (void)http_exchange_admit(exchange, NULL);
}

static void on_request(struct http_service *service, struct http_exchange *exchange)
{
    (void)service;
    if (!exchange->head.query) /* "?wait": never */
        http_respond(exchange, 204, "", NULL, NULL, 0);
}

static void on_gone(struct http_service *service, struct http_exchange *exchange)
{
    (void)exchange;
    CONTAINER_OF(service, struct fixture, service)->gone++;
}

static void on_finished(void *data)
{
    ((struct fixture *)data)->finished = true;
}

/* The first address is TCP, the second one unix. */
static struct fixture *serve(void)
{
    struct fixture *fixture = NEW(struct fixture);
    struct error err = ERROR_INIT;

    session_double_reset();
    fixture->loop = ev_loop_new(EVFLAG_AUTO);
    fixture->service =
        (struct http_service){.head = on_head, .request = on_request, .gone = on_gone};
    snprintf(fixture->addresses[0], sizeof fixture->addresses[0], "http://127.0.0.1:%u",
             free_port());
    snprintf(fixture->addresses[1], sizeof fixture->addresses[1], "unix://%s/http#/mcp",
             served_folder());
    fixture->list[0] = fixture->addresses[0];
    fixture->list[1] = fixture->addresses[1];
    fixture->settings = (struct transport_settings){
        .loop = fixture->loop,
        .addresses = fixture->list,
        .auth_none = true,
        .http = &fixture->service,
        .limits = transport_default_limits,
        .finished = on_finished,
        .data = fixture,
    };
    fixture->transport = transport_open(&fixture->settings, &err);
    if (!fixture->transport)
        fail_msg("%s", err.message);
    return fixture;
}

static void fixture_free(struct fixture *fixture)
{
    transport_free(fixture->transport);
    ev_loop_destroy(fixture->loop);
    free(fixture);
}

static void expect_last(struct fixture *fixture, int client, const char *status)
{
    char text[TURNING_PIECE];

    turn_until_closed(fixture->loop, client, text, sizeof text);
    if (strncmp(text, status, strlen(status)) != 0)
        fail_msg("%s is not %s", text, status);
    close(client);
}

/* Fails unless CLIENT is served. */
static void check_answer(struct fixture *fixture, int client)
{
    served_say(client, REQUEST);
    turn_until_received(fixture->loop, client, RESPONSE);
}

static void test_http_is_served_on_tcp_and_unix_sockets(void **state)
{
    struct fixture *fixture = serve();

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        int client = served_connect(fixture->addresses[i]);

        check_answer(fixture, client);
        check_answer(fixture, client);
        served_say(client, "GET /other HTTP/1.0\r\nHost: localhost\r\n\r\n");
        expect_last(fixture, client, "HTTP/1.1 404 ");
    }
    fixture_free(fixture);
}

static void test_strangers_keep_nobody_out(void **state)
{
    struct fixture *fixture = serve();
    int crowd[CROWD];
    int client;

    (void)state;
    for (unsigned i = 0; i < CROWD; i++) {
        crowd[i] = served_connect(fixture->addresses[0]);
        served_say(crowd[i], "POST /mcp HTTP/1.1\r\nHost:");
        ev_run(fixture->loop, EVRUN_NOWAIT);
    }
    client = served_connect(fixture->addresses[0]);
    check_answer(fixture, client);
    close(client);
    for (unsigned i = 0; i < CROWD; i++)
        close(crowd[i]);
    fixture_free(fixture);
}

static void test_a_peer_has_so_many_connections_and_no_more(void **state)
{
    struct fixture *fixture = serve();
    unsigned share = fixture->settings.limits.per_peer;
    int *crowd = memory_new(share, sizeof *crowd);
    int client;

    (void)state;
    for (unsigned i = 0; i < share; i++) {
        crowd[i] = served_connect(fixture->addresses[0]);
        check_answer(fixture, crowd[i]);
    }
    client = served_connect(fixture->addresses[0]);
    served_say(client, REQUEST);
    expect_last(fixture, client, "HTTP/1.1 503 ");
    close(crowd[0]);
    turn_for(fixture->loop, 0.05);
    client = served_connect(fixture->addresses[0]);
    check_answer(fixture, client);
    close(client);
    for (unsigned i = 1; i < share; i++)
        close(crowd[i]);
    free(crowd);
    fixture_free(fixture);
}

static void test_stopping_ends_what_is_idle_and_what_is_owed(void **state)
{
    struct fixture *fixture = serve();
    int idle = served_connect(fixture->addresses[0]);
    int waiting = served_connect(fixture->addresses[0]);

    (void)state;
    check_answer(fixture, idle);
    served_say(waiting, "GET /mcp?wait HTTP/1.1\r\nHost: localhost\r\n\r\n");
    turn_for(fixture->loop, 0.05);
    transport_stop(fixture->transport);
    expect_last(fixture, waiting, "HTTP/1.1 503 ");
    expect_last(fixture, idle, "");
    TURN_UNTIL(fixture->loop, fixture->finished);
    assert_int_equal(fixture->gone, 1);
    fixture_free(fixture);
}

static void test_http_addresses_need_a_service(void **state)
{
    struct fixture *fixture = serve();
    struct error err = ERROR_INIT;

    (void)state;
    fixture->settings.http = NULL;
    assert_null(transport_open(&fixture->settings, &err));
    assert_non_null(strstr(err.message, "HTTP is not served here"));
    fixture_free(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_http_is_served_on_tcp_and_unix_sockets),
        cmocka_unit_test(test_strangers_keep_nobody_out),
        cmocka_unit_test(test_a_peer_has_so_many_connections_and_no_more),
        cmocka_unit_test(test_stopping_ends_what_is_idle_and_what_is_owed),
        cmocka_unit_test(test_http_addresses_need_a_service),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, served_set_up, served_tear_down);
}
