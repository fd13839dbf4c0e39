#include "tests/unit/transport/served.h"

#include "base/memory.h"
#include "server/transport/identity/authority.h"
#include "server/transport/socket/address.h"
#include "tests/unit/transport/free_port.h"
#include "tests/unit/transport/session_double.h"
#include "tests/unit/transport/turning.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

static char folder[] = "/tmp/test_served.XXXXXX";

static void on_finished(void *data)
{
    struct served *served = data;

    served->finishes++;
    ev_break(served->loop, EVBREAK_ALL);
}

struct served *served_new(void)
{
    struct served *served = NEW(struct served);

    session_double_reset();
    served->loop = ev_loop_new(EVFLAG_AUTO);
    snprintf(served->unix_address, sizeof(served->unix_address), "unix:%s/socket", folder);
    snprintf(served->tcp_address, sizeof(served->tcp_address), "tcp:127.0.0.1:%u", free_port());
    served->settings = (struct transport_settings){
        .loop = served->loop,
        .addresses = served->addresses,
        .limits = transport_default_limits,
        .finished = on_finished,
        .data = served,
    };
    return served;
}

void served_open(struct served *served)
{
    struct error err = ERROR_INIT;

    served->transport = transport_open(&served->settings, &err);
    if (!served->transport)
        fail_msg("%s", err.message);
}

struct served *served_on_unix(void)
{
    struct served *served = served_new();

    served->addresses[0] = served->unix_address;
    return served;
}

struct served *served_on_tcp(const char *token)
{
    struct served *served = served_new();
    struct credential credential = {"alice"};

    served->addresses[0] = served->tcp_address;
    served->settings.auth_none = !token;
    if (!token)
        return served;
    credential.token = token_of(token, strlen(token));
    served->settings.authority = authority_new(&(struct authority_settings){
        .loop = served->loop,
        .credentials = &credential,
        .credential_count = 1,
    });
    return served;
}

void served_free(struct served *served)
{
    transport_free(served->transport);
    authority_free(served->settings.authority);
    ev_loop_destroy(served->loop);
    free(served);
    assert_int_equal(session_double.live, 0);
}

int served_connect(const char *text)
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

void served_say(int client, const char *bytes)
{
    assert_int_equal(send(client, bytes, strlen(bytes), MSG_NOSIGNAL), strlen(bytes));
}

void served_check_echo(struct served *served, int client)
{
    served_say(client, "echo hello\n");
    turn_until_received(served->loop, client, "hello\n");
}

void served_check_closed(struct served *served, int client, const char *farewell)
{
    char text[256];

    turn_until_closed(served->loop, client, text, sizeof(text));
    assert_string_equal(text, farewell);
    close(client);
}

int served_set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

int served_tear_down(void **state)
{
    (void)state;
    return rmdir(folder); /* fails when a test has left anything behind */
}

const char *served_folder(void)
{
    return folder;
}
