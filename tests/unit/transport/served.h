/* A transport that is served with session_double behind it, on a socket in a folder of the test's
 * own or on a free port, and its clients. */
#pragma once

#include "server/transport/transport.h"

#include <ev.h>
#include <stdbool.h>

struct served {
    struct ev_loop *loop;
    struct transport_settings settings; /* a test changes them before served_open */
    struct transport *transport;
    unsigned finishes;
    char unix_address[64];
    char tcp_address[64];
    const char *addresses[4];
};

/* Before all tests of a program and after them: the folder of the sockets. */
int served_set_up(void **state);
int served_tear_down(void **state);
const char *served_folder(void);

/* On no address, on the socket, or on the port: to those with TOKEN, or (NULL) to all. */
struct served *served_new(void);
struct served *served_on_unix(void);
struct served *served_on_tcp(const char *token);

void served_open(struct served *served);
void served_free(struct served *served);

/* A client of the address TEXT. */
int served_connect(const char *text);

void served_say(int client, const char *bytes);

/* Fails unless CLIENT is served. */
void served_check_echo(struct served *served, int client);

/* Fails unless CLIENT has been sent FAREWELL and nothing else, and then closed. */
void served_check_closed(struct served *served, int client, const char *farewell);
