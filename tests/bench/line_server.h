/* The server that the stopwatch times: JSON-RPC over stdio, a line for each message. */
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct command;

struct line_server {
    bool has_started;
    pid_t pid;
    int in;
    FILE *out;
    char *line; /* owned; the newest answer */
    size_t capacity;
    long last_id;
};

/* Starts COMMAND, its stderr in the file LOG. */
void line_server_start(struct line_server *server, struct command *command, const char *log);
void line_server_stop(struct line_server *server);

/* Becomes a further client of a server that listens at the socket PATH. */
void line_server_connect(struct line_server *server, const char *path);

/* Sends REQUEST with a new id. */
void line_server_ask(struct line_server *server, json_t *request);

/* Reads the next answer. */
void line_server_receive(struct line_server *server);

/* Ends the stopwatch unless EXPECT is NULL or in the newest answer. */
void line_server_check(struct line_server *server, const char *expect);

/* The microseconds from the first byte of REQUEST to the last byte of its answer. */
double line_server_exchange(struct line_server *server, json_t *request);
