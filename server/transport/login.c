#include "server/transport/login.h"

#include "base/list.h"
#include "base/log.h"
#include "server/transport/greeting.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#define LINGER_SECONDS   1.0
#define DELAY_SECONDS    0.25
#define FAILURES_SECONDS 60.0

enum {
    FAILURES_UNPUNISHED = 5, /* in FAILURES_SECONDS */
    DROP_BYTES = 4096,       /* read at once while lingering */
};

static const char unauthorized[] =
    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"Unauthorized\"}}\n";

static const char not_http[] =
    "HTTP/1.1 400 Bad Request\r\n"
    "Content-Type: text/plain\r\n"
    "Connection: close\r\n"
    "\r\n"
    "This port does not speak HTTP. It takes JSON-RPC (MCP) messages, one per line, without "
    "headers.\n";

/* The end */

static void stop_watchers(struct login *login)
{
    ev_io_stop(login->loop, &login->readable);
    ev_timer_stop(login->loop, &login->timer);
}

static void finish(struct login *login, bool accepted)
{
    stop_watchers(login);
    login->state = LOGIN_OVER;
    login->done(login, accepted); /* may release LOGIN */
}

static void set_timer(struct login *login, double seconds)
{
    ev_timer_stop(login->loop, &login->timer);
    ev_timer_set(&login->timer, seconds, 0);
    ev_timer_start(login->loop, &login->timer);
}

/* ANSWER fits into the empty send buffer of a new socket. */
static void refuse(struct login *login, const char *answer)
{
    (void)send(login->fd, answer, strlen(answer), MSG_DONTWAIT | MSG_NOSIGNAL);
    (void)shutdown(login->fd, SHUT_WR);
    login->state = LOGIN_LINGERING;
    set_timer(login, LINGER_SECONDS);
    ev_io_start(login->loop, &login->readable);
}

/* How many bad tokens there were lately, with this one. */
static unsigned count_failure(struct login_failures *failures, ev_tstamp now)
{
    if (now - failures->since > FAILURES_SECONDS)
        *failures = (struct login_failures){.since = now};
    return ++failures->count;
}

static void refuse_token(struct login *login)
{
    unsigned failures = count_failure(login->failures, ev_now(login->loop));

    if (failures <= FAILURES_UNPUNISHED) {
        log_warning("a client without the right token was refused");
        refuse(login, unauthorized);
        return;
    }
    if (failures == FAILURES_UNPUNISHED + 1)
        log_warning("many clients without the right token: further ones are answered late");
    login->state = LOGIN_DELAYING;
    ev_io_stop(login->loop, &login->readable);
    set_timer(login, DELAY_SECONDS);
}

/* The line */

static bool skip_word(const char **text, size_t *length, const char *word)
{
    size_t wanted = strlen(word);

    if (*length < wanted || strncasecmp(*text, word, wanted) != 0)
        return false;
    *text += wanted;
    *length -= wanted;
    return true;
}

static bool is_space(char character)
{
    return character == ' ' || character == '\t' || character == '\r';
}

static void trim(const char **text, size_t *length)
{
    while (*length > 0 && is_space((*text)[*length - 1]))
        (*length)--;
    while (*length > 0 && is_space(**text)) {
        (*text)++;
        (*length)--;
    }
}

/* RFC 6750, 2.1: the scheme in any case, the token exactly. */
static bool is_authorized(const struct token *token, const char *line, size_t length)
{
    if (!skip_word(&line, &length, "Authorization:"))
        return false;
    trim(&line, &length);
    if (!skip_word(&line, &length, "Bearer "))
        return false;
    trim(&line, &length);
    return token_matches(token, line, length);
}

/* A greeting that is neither HTTP nor TLS. */
static void check_line(struct login *login)
{
    const char *line = buffer_bytes(&login->received);
    size_t length = buffer_length(&login->received);
    const char *newline = memchr(line, '\n', length);

    if (!newline) {
        if (length == LOGIN_LINE_BYTES)
            refuse_token(login);
        return;
    }
    if (!is_authorized(login->token, line, (size_t)(newline - line))) {
        refuse_token(login);
        return;
    }
    buffer_consume(&login->received, (size_t)(newline - line) + 1);
    finish(login, true);
}

static void check(struct login *login)
{
    switch (greeting_classify(buffer_bytes(&login->received), buffer_length(&login->received))) {
    case GREETING_UNDECIDED:
        return;
    case GREETING_LINE:
        if (login->token)
            check_line(login);
        else
            finish(login, true);
        return;
    case GREETING_HTTP:
        log_info("an HTTP request was refused");
        refuse(login, not_http);
        return;
    case GREETING_TLS:
        log_info("a TLS handshake was refused");
        refuse(login, "");
        return;
    }
}

static void read_line(struct login *login)
{
    struct error err = ERROR_INIT;
    size_t room = LOGIN_LINE_BYTES - buffer_length(&login->received);
    ssize_t length =
        recv(login->fd, buffer_reserve(&login->received, room, &err), room, MSG_DONTWAIT);

    if (length > 0) {
        buffer_commit(&login->received, (size_t)length);
        check(login);
    } else if (length == 0) {
        finish(login, !login->token); /* the stream will see the end as well */
    } else if (errno != EAGAIN && errno != EINTR) {
        finish(login, false);
    }
}

static void drop_input(struct login *login)
{
    char dropped[DROP_BYTES];
    ssize_t length = recv(login->fd, dropped, sizeof(dropped), MSG_DONTWAIT);

    if (length == 0 || (length < 0 && errno != EAGAIN && errno != EINTR))
        finish(login, false);
}

static void on_readable(struct ev_loop *loop, struct ev_io *watcher, int events)
{
    struct login *login = CONTAINER_OF(watcher, struct login, readable);

    (void)loop;
    (void)events;
    if (login->state == LOGIN_READING)
        read_line(login);
    else
        drop_input(login);
}

static void on_timer(struct ev_loop *loop, struct ev_timer *timer, int events)
{
    struct login *login = CONTAINER_OF(timer, struct login, timer);

    (void)loop;
    (void)events;
    if (login->state == LOGIN_DELAYING)
        refuse(login, unauthorized);
    else
        finish(login, false);
}

void login_start(struct login *login)
{
    buffer_init(&login->received, LOGIN_LINE_BYTES);
    login->state = LOGIN_READING;
    ev_io_init(&login->readable, on_readable, login->fd, EV_READ);
    ev_timer_init(&login->timer, on_timer, 0, 0);
    ev_io_start(login->loop, &login->readable);
    if (login->token)
        set_timer(login, login->seconds);
}

void login_deinit(struct login *login)
{
    stop_watchers(login);
    buffer_deinit(&login->received);
}
