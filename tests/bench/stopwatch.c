/* The client of the benchmarks: it times one server that speaks JSON-RPC over stdio, or commands.
 *
 * It reads one order per line, a JSON object, and answers each with one line. A client in Python
 * would add a third of a millisecond to each call; here the time from the first byte of a request
 * to the last byte of its answer is what the server takes, and two wake-ups. Nothing is parsed
 * within a measured time. The orders:
 *
 *     {"do": "start", "command": [...], "environment": {...}, "log": PATH}
 *         starts the server, its stderr in a file: {"pid": ...}
 *     {"do": "connect", "path": PATH}
 *         goes to a server that listens at a socket instead: {}
 *     {"do": "call", "request": {...}, ...}
 *         calls it: {"us": [...], "answer": "..."}
 *     {"do": "run", "command": [...], "environment": {...}, ...}
 *         runs a command to its end: the same, and {"processor_us": ...} for all
 *
 * COUNT calls follow one another, GAP_US apart. Each answer, or output, must have EXPECT in it.
 * With SECONDS in place of a COUNT, AT_ONCE calls are under way until then, and the answer has
 * {"count": ..., "seconds": ...}. What fails is answered with {"error": "..."} and ends it all. */
#include "command.h"
#include "line_server.h"

#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    AT_ONCE_LIMIT = 64,
};

static double order_number(json_t *order, const char *key, double otherwise)
{
    json_t *value = json_object_get(order, key);

    return value ? json_number_value(value) : otherwise;
}

static void order_pause(json_t *order)
{
    usleep((useconds_t)order_number(order, "gap_us", 0));
}

static json_t *order_start(struct line_server *server, json_t *order)
{
    struct command command;

    command_read(order, &command);
    line_server_start(server, &command, json_string_value(json_object_get(order, "log")));
    command_free(&command);
    return json_pack("{s:i}", "pid", (int)server->pid);
}

static json_t *order_connect(struct line_server *server, json_t *order)
{
    line_server_connect(server, json_string_value(json_object_get(order, "path")));
    return json_object();
}

static json_t *order_rate(long count, double begun)
{
    return json_pack("{s:i, s:f}", "count", (int)count, "seconds",
                     (command_clock_us() - begun) / 1e6);
}

static json_t *order_call_many(struct line_server *server, json_t *order, double seconds)
{
    json_t *request = json_object_get(order, "request");
    const char *expect = json_string_value(json_object_get(order, "expect"));
    int under_way = (int)order_number(order, "at_once", 1);
    double begun = command_clock_us();
    long count = 0;

    for (int i = 0; i < under_way; i++)
        line_server_ask(server, request);
    while (under_way > 0) {
        line_server_receive(server);
        line_server_check(server, expect);
        count++;
        if (command_clock_us() < begun + seconds * 1e6)
            line_server_ask(server, request);
        else
            under_way--;
    }
    return order_rate(count, begun);
}

static json_t *order_call(struct line_server *server, json_t *order)
{
    json_t *request = json_object_get(order, "request");
    double seconds = order_number(order, "seconds", 0);
    int count = (int)order_number(order, "count", 1);
    json_t *times;

    if (seconds > 0)
        return order_call_many(server, order, seconds);
    times = json_array();
    for (int i = 0; i < count; i++) {
        if (i > 0)
            order_pause(order);
        json_array_append_new(times, json_real(line_server_exchange(server, request)));
        line_server_check(server, json_string_value(json_object_get(order, "expect")));
    }
    return json_pack("{s:o, s:s}", "us", times, "answer", server->line);
}

static json_t *order_run_many(json_t *order, double seconds)
{
    int at_once = (int)order_number(order, "at_once", 1);
    struct command commands[AT_ONCE_LIMIT];
    pthread_t threads[AT_ONCE_LIMIT];
    double begun = command_clock_us();
    long count = 0;

    if (at_once > AT_ONCE_LIMIT)
        command_fail("more than %d at once", AT_ONCE_LIMIT);
    for (int i = 0; i < at_once; i++) {
        command_read(order, &commands[i]);
        commands[i].deadline = begun + seconds * 1e6;
        if (pthread_create(&threads[i], NULL, command_repeat, &commands[i]))
            command_fail("cannot start a thread");
    }
    for (int i = 0; i < at_once; i++) {
        pthread_join(threads[i], NULL);
        count += commands[i].count;
        command_free(&commands[i]);
    }
    return order_rate(count, begun);
}

/* What all commands that have ended have cost the processor. */
static double order_processor_us(void)
{
    struct rusage used;

    getrusage(RUSAGE_CHILDREN, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static json_t *order_run_one(json_t *order)
{
    int count = (int)order_number(order, "count", 1);
    json_t *times = json_array();
    struct command command;
    json_t *answer;

    command_read(order, &command);
    for (int i = 0; i < count; i++) {
        if (i > 0)
            order_pause(order);
        json_array_append_new(times, json_real(command_run(&command)));
    }
    answer = json_pack("{s:o, s:s}", "us", times, "answer", command.output);
    command_free(&command);
    return answer;
}

static json_t *order_run(struct line_server *server, json_t *order)
{
    double seconds = order_number(order, "seconds", 0);
    double processor_us = order_processor_us();
    json_t *answer = seconds > 0 ? order_run_many(order, seconds) : order_run_one(order);

    (void)server;
    json_object_set_new(answer, "processor_us", json_real(order_processor_us() - processor_us));
    return answer;
}

static json_t *order_do(struct line_server *server, json_t *order)
{
    static const struct {
        const char *name;
        json_t *(*act)(struct line_server *server, json_t *order);
    } orders[] = {
        {"start", order_start},
        {"connect", order_connect},
        {"call", order_call},
        {"run", order_run},
    };
    const char *name = json_string_value(json_object_get(order, "do"));

    for (size_t i = 0; name && i < sizeof orders / sizeof *orders; i++)
        if (strcmp(orders[i].name, name) == 0)
            return orders[i].act(server, order);
    command_fail("no order %s", name ? name : "without a name");
}

static void order_carry_out(struct line_server *server, const char *line)
{
    json_error_t error;
    json_t *order = json_loads(line, 0, &error);
    json_t *answer;

    if (!order)
        command_fail("not an order: %s", error.text);
    answer = order_do(server, order);
    json_dumpf(answer, stdout, JSON_COMPACT);
    putchar('\n');
    fflush(stdout);
    json_decref(answer);
    json_decref(order);
}

int main(void)
{
    struct line_server server = {0};
    char *line = NULL;
    size_t capacity = 0;

    signal(SIGPIPE, SIG_IGN);
    while (getline(&line, &capacity, stdin) > 0)
        order_carry_out(&server, line);
    if (server.has_started)
        line_server_stop(&server);
    free(line);
    return 0;
}
