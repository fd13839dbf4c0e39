/* Sends one HTTP request over and over, and measures the answers.
 *
 *     http_load PORT CONNECTIONS SECONDS < REQUEST
 *
 * REQUEST is the whole text of it, head and body; where it has 100000000 for the id of its message,
 * each that is sent has another number. Each connection to 127.0.0.1 is kept alive and
 * has one request under way at a time. One line of JSON says how many answers came, in what time,
 * and the latencies in microseconds. It does so little per answer that the server is what is
 * measured: an answer is over when its Content-Length or its last chunk is. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define FIRST_ID "100000000"

enum {
    REQUEST_BYTES = 1 << 16,
    ANSWER_BYTES = 1 << 18,
    CONNECTIONS = 4096,
    EVENTS = 256,
    SILENCE_MILLISECONDS = 10000,
};

struct connection {
    int fd;
    double sent;  /* when the request under way was */
    char *answer; /* owned; what has come of it, NUL-terminated */
    size_t length;
};

struct load {
    char request[REQUEST_BYTES + 1];
    size_t request_length;
    struct connection *connections; /* owned */
    int count;
    int under_way; /* requests */
    char *id;      /* borrowed from `request` */
    unsigned last_id;
    int epoll;
    double *latencies; /* owned; seconds */
    size_t answers;
    size_t room;
};

static void __attribute__((noreturn, format(printf, 1, 2))) fail(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fputs("http_load: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

static double now_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void send_request(struct load *load, struct connection *connection)
{
    char id[sizeof FIRST_ID + 1];

    snprintf(id, sizeof id, "%u", ++load->last_id);
    memcpy(load->id, id, strlen(FIRST_ID));
    load->under_way++;
    connection->length = 0;
    connection->sent = now_seconds();
    if (send(connection->fd, load->request, load->request_length, MSG_NOSIGNAL) !=
        (ssize_t)load->request_length)
        fail("cannot send: %s", strerror(errno));
}

static void open_connection(struct load *load, struct connection *connection, int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((unsigned short)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    int on = 1;

    connection->answer = malloc(ANSWER_BYTES + 1);
    connection->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (!connection->answer || connection->fd < 0 ||
        connect(connection->fd, (struct sockaddr *)&address, sizeof address) < 0)
        fail("cannot connect to port %d: %s", port, strerror(errno));
    setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (epoll_ctl(load->epoll, EPOLL_CTL_ADD, connection->fd, &event) < 0)
        fail("epoll: %s", strerror(errno));
}

/* Whether what has come is the whole answer. */
static bool is_complete(const struct connection *connection)
{
    const char *body = strstr(connection->answer, "\r\n\r\n");
    const char *field = body ? strcasestr(connection->answer, "\r\ncontent-length:") : NULL;
    size_t body_length;

    if (!body)
        return false;
    body += strlen("\r\n\r\n");
    body_length = connection->length - (size_t)(body - connection->answer);
    if (field && field < body)
        return body_length >= strtoul(field + strlen("\r\ncontent-length:"), NULL, 10);
    return body_length >= 5 && memcmp(body + body_length - 5, "0\r\n\r\n", 5) == 0;
}

static void take_answer(struct load *load, const struct connection *connection)
{
    if (strncmp(connection->answer, "HTTP/1.1 200", strlen("HTTP/1.1 200")) != 0 ||
        !strstr(connection->answer, "\"result\""))
        fail("this is no result: %.400s", connection->answer);
    if (load->answers == load->room) {
        load->room = load->room ? 2 * load->room : 1 << 16;
        load->latencies = realloc(load->latencies, load->room * sizeof *load->latencies);
        if (!load->latencies)
            fail("out of memory");
    }
    load->latencies[load->answers++] = now_seconds() - connection->sent;
    load->under_way--;
}

/* True when the answer is there. */
static bool read_answer(struct load *load, struct connection *connection)
{
    ssize_t got = recv(connection->fd, connection->answer + connection->length,
                       ANSWER_BYTES - connection->length, 0);

    if (got <= 0)
        fail("the server has closed a connection, or its answer is too long");
    connection->length += (size_t)got;
    connection->answer[connection->length] = '\0';
    if (!is_complete(connection))
        return false;
    take_answer(load, connection);
    return true;
}

/* One exchange on its own: a server that has not heard anything of a connection need not keep many
 * of the kind. */
static void make_known(struct load *load, struct connection *connection)
{
    struct pollfd readable = {.fd = connection->fd, .events = POLLIN};

    send_request(load, connection);
    do {
        if (poll(&readable, 1, SILENCE_MILLISECONDS) <= 0)
            fail("the server is silent");
    } while (!read_answer(load, connection));
}

/* Takes what there is; the next requests are sent while AGAIN. */
static void take_turn(struct load *load, bool again)
{
    struct epoll_event events[EVENTS];
    int count = epoll_wait(load->epoll, events, EVENTS, SILENCE_MILLISECONDS);

    if (count <= 0)
        fail("the server is silent");
    for (int i = 0; i < count; i++) {
        if (read_answer(load, events[i].data.ptr) && again)
            send_request(load, events[i].data.ptr);
    }
}

/* For SECONDS, the connections being idle before and after; what it took exactly. */
static double run(struct load *load, double seconds)
{
    double begun = now_seconds();

    load->answers = 0;
    for (int i = 0; i < load->count; i++)
        send_request(load, &load->connections[i]);
    while (now_seconds() - begun < seconds)
        take_turn(load, true);
    while (load->under_way > 0)
        take_turn(load, false);
    return now_seconds() - begun;
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;

    return (left > right) - (left < right);
}

static double quantile(const struct load *load, double share)
{
    return load->latencies[(size_t)(share * (double)(load->answers - 1))] * 1e6;
}

static void print_report(struct load *load, double seconds)
{
    if (load->answers == 0)
        fail("no answer in %.1f s", seconds);
    qsort(load->latencies, load->answers, sizeof *load->latencies, compare);
    printf(
        "{\"requests\": %u, \"answers\": %zu, \"seconds\": %.3f, \"rate\": %.0f, \"p50_us\": %.0f, "
        "\"p99_us\": %.0f}\n",
        load->last_id - (unsigned)strtoul(FIRST_ID, NULL, 10), load->answers, seconds,
        (double)load->answers / seconds, quantile(load, 0.50), quantile(load, 0.99));
}

int main(int argc, char **argv)
{
    static struct load load;
    double seconds = argc == 4 ? strtod(argv[3], NULL) : 0;

    load.count = argc == 4 ? atoi(argv[2]) : 0;
    if (load.count < 1 || load.count > CONNECTIONS || seconds <= 0)
        fail("usage: http_load PORT CONNECTIONS SECONDS < REQUEST");
    load.request_length = fread(load.request, 1, REQUEST_BYTES, stdin);
    load.id = strstr(load.request, FIRST_ID);
    if (!load.id)
        fail("there is no id " FIRST_ID " in the request");
    load.last_id = (unsigned)strtoul(FIRST_ID, NULL, 10);
    load.epoll = epoll_create1(EPOLL_CLOEXEC);
    load.connections = calloc((size_t)load.count, sizeof *load.connections);
    if (!load.connections)
        fail("out of memory");
    for (int i = 0; i < load.count; i++) {
        open_connection(&load, &load.connections[i], atoi(argv[1]));
        make_known(&load, &load.connections[i]);
    }
    run(&load, seconds / 4); /* until everything is warm */
    print_report(&load, run(&load, seconds));
    return 0;
}
