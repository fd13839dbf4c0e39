#include "tests/unit/engine/fake_engine.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/list.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

enum { LIMIT = 1024 * 1024 };

static const struct fake_answer ping = {
    .request = "GET /_ping",
    .answer = "HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nContent-Length: 2\r\n\r\nOK"};

static const struct fake_answer unknown = {
    .request = "", .answer = "HTTP/1.1 500 What?\r\nContent-Length: 5\r\n\r\nwhat?"};

struct fake_engine {
    struct ev_loop *loop;
    const struct fake_answer *answers;
    char *folder;
    char *path;
    ev_io listener;
    struct list connections;
    unsigned count;
    struct buffer log;
};

struct connection {
    struct list link;
    struct fake_engine *fake;
    ev_io reading;
    ev_timer more;
    struct buffer incoming;
    const struct fake_answer *held; /* its answer is kept back */
    const struct fake_answer *giving;
    size_t given; /* bytes of it */
};

static void connection_free(struct connection *connection)
{
    list_remove(&connection->link);
    ev_io_stop(connection->fake->loop, &connection->reading);
    ev_timer_stop(connection->fake->loop, &connection->more);
    close(connection->reading.fd);
    buffer_deinit(&connection->incoming);
    free(connection);
}

static size_t length_of(const struct fake_answer *answer)
{
    return answer->length ? answer->length : strlen(answer->answer);
}

/* Writes some of the answer under way, in the loop's next turns the rest. */
static void write_some(struct connection *connection)
{
    const struct fake_answer *answer = connection->giving;
    size_t left = length_of(answer) - connection->given;
    ssize_t written =
        send(connection->reading.fd, answer->answer + connection->given,
             answer->manner == FAKE_DRIPPING && left > 1 ? 1 : left, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (written > 0)
        connection->given += (size_t)written;
    if (connection->given < length_of(answer)) {
        ev_timer_again(connection->fake->loop, &connection->more);
        return;
    }
    ev_timer_stop(connection->fake->loop, &connection->more);
    if (answer->manner == FAKE_CLOSING)
        shutdown(connection->reading.fd, SHUT_RDWR);
}

static void on_more(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    write_some(CONTAINER_OF(timer, struct connection, more));
}

static void give(struct connection *connection, const struct fake_answer *answer)
{
    connection->held = NULL;
    connection->giving = answer;
    connection->given = 0;
    write_some(connection);
}

static const struct fake_answer *find_answer(const struct fake_engine *fake, const char *request)
{
    for (const struct fake_answer *answer = fake->answers; answer->request; answer++)
        if (strncmp(request, answer->request, strlen(answer->request)) == 0)
            return answer;
    return strncmp(request, ping.request, strlen(ping.request)) == 0 ? &ping : &unknown;
}

static void answer_request(struct connection *connection, const char *request)
{
    const struct fake_answer *answer = find_answer(connection->fake, request);
    struct error ignored = ERROR_INIT;

    (void)buffer_append_format(&connection->fake->log, &ignored, "%.*s\n",
                               (int)(strstr(request, " HTTP/1.1") - request), request);
    if (answer->manner == FAKE_SILENT)
        connection->held = answer;
    else
        give(connection, answer);
}

/* Bytes of the request at the start of TEXT; 0: it is not complete. */
static size_t request_length(const char *text, size_t length)
{
    const char *end = text ? memmem(text, length, "\r\n\r\n", 4) : NULL;
    const char *field = end ? memmem(text, (size_t)(end - text), "Content-Length: ", 16) : NULL;
    size_t body = field ? strtoul(field + 16, NULL, 10) : 0;

    if (end && memmem(text, (size_t)(end - text), "chunked", 7)) {
        end = memmem(end, length - (size_t)(end - text), "\r\n0\r\n\r\n", 7);
        return end ? (size_t)(end + 7 - text) : 0;
    }
    return end && (size_t)(end + 4 - text) + body <= length ? (size_t)(end + 4 - text) + body : 0;
}

static void on_readable(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct connection *connection = CONTAINER_OF(watcher, struct connection, reading);
    struct error err = ERROR_INIT;
    char bytes[4096];
    ssize_t count = recv(watcher->fd, bytes, sizeof bytes, MSG_DONTWAIT);
    size_t length;

    (void)loop;
    (void)events;
    if (count < 0 && errno == EAGAIN)
        return;
    if (count <= 0) {
        connection_free(connection);
        return;
    }
    assert_int_equal(buffer_append(&connection->incoming, bytes, (size_t)count, &err), 0);
    while ((length = request_length(buffer_bytes(&connection->incoming),
                                    buffer_length(&connection->incoming)))) {
        answer_request(connection, buffer_bytes(&connection->incoming));
        buffer_consume(&connection->incoming, length);
    }
}

static void on_connection(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct fake_engine *fake = CONTAINER_OF(watcher, struct fake_engine, listener);
    int fd = accept4(watcher->fd, NULL, NULL, SOCK_CLOEXEC);
    struct connection *connection = NEW(struct connection);

    (void)events;
    assert_true(fd >= 0);
    fake->count++;
    connection->fake = fake;
    buffer_init(&connection->incoming, LIMIT);
    list_append(&fake->connections, &connection->link);
    ev_init(&connection->more, on_more);
    connection->more.repeat = 0.0001;
    ev_io_init(&connection->reading, on_readable, fd, EV_READ);
    ev_io_start(loop, &connection->reading);
}

void fake_engine_come_back(struct fake_engine *fake)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    memcpy(address.sun_path, fake->path, strlen(fake->path) + 1);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 100), 0);
    ev_io_init(&fake->listener, on_connection, fd, EV_READ);
    ev_io_start(fake->loop, &fake->listener);
}

void fake_engine_die(struct fake_engine *fake)
{
    LIST_FOR_EACH_SAFE (&fake->connections, link)
        connection_free(CONTAINER_OF(link, struct connection, link));
    if (!ev_is_active(&fake->listener))
        return;
    ev_io_stop(fake->loop, &fake->listener);
    close(fake->listener.fd);
    unlink(fake->path);
}

struct fake_engine *fake_engine_new(struct ev_loop *loop, const struct fake_answer *answers)
{
    struct fake_engine *fake = NEW(struct fake_engine);

    fake->loop = loop;
    fake->answers = answers;
    list_init(&fake->connections);
    buffer_init(&fake->log, LIMIT);
    fake->folder = memory_copy_string("/tmp/pyexecd-fake.XXXXXX");
    assert_non_null(mkdtemp(fake->folder));
    fake->path = memory_format("%s/socket", fake->folder);
    fake_engine_come_back(fake);
    return fake;
}

void fake_engine_free(struct fake_engine *fake)
{
    fake_engine_die(fake);
    rmdir(fake->folder);
    buffer_deinit(&fake->log);
    free(fake->folder);
    free(fake->path);
    free(fake);
}

struct engine *fake_engine_client(struct fake_engine *fake)
{
    AUTO_FREE char *text = memory_format("unix://%s", fake->path);
    struct engine_address address;
    struct error err = ERROR_INIT;

    assert_int_equal(engine_address_parse(text, NULL, &address, &err), 0);
    return engine_new(fake->loop, &address);
}

const char *fake_engine_log(const struct fake_engine *fake)
{
    struct buffer *log = (struct buffer *)&fake->log;
    struct error ignored = ERROR_INIT;
    char *end = buffer_reserve(log, 1, &ignored);

    *end = '\0';
    return buffer_bytes(log);
}

unsigned fake_engine_count(const struct fake_engine *fake, const char *text)
{
    unsigned count = 0;

    for (const char *at = fake_engine_log(fake); (at = strstr(at, text)); at++)
        count++;
    return count;
}

unsigned fake_engine_connections(const struct fake_engine *fake)
{
    return fake->count;
}

void fake_engine_speak(struct fake_engine *fake)
{
    LIST_FOR_EACH (&fake->connections, link) {
        struct connection *connection = CONTAINER_OF(link, struct connection, link);

        if (connection->held)
            give(connection, connection->held);
    }
}
