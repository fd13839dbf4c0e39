#include "server/transport/login.h"

#include "base/list.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "base/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#define LINGER_SECONDS 1.0

enum { DROP_BYTES = 4096 }; /* read at once while lingering */

static const char unauthorized[] =
    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"Unauthorized\"}}\n";

static const char not_http[] =
    "HTTP/1.1 400 Bad Request\r\n"
    "Content-Type: text/plain\r\n"
    "Connection: close\r\n"
    "\r\n"
    "This port does not speak HTTP. It takes JSON-RPC (MCP) messages, one per line, without "
    "headers.\n";

/* States */

static const struct state login_states[] = {
    [LOGIN_READING] = {"reading", 1 << LOGIN_CHECKING | 1 << LOGIN_LINGERING | 1 << LOGIN_OVER},
    [LOGIN_CHECKING] = {"checking", 1 << LOGIN_LINGERING | 1 << LOGIN_OVER},
    [LOGIN_LINGERING] = {"lingering", 1 << LOGIN_OVER},
    [LOGIN_OVER] = {"over", 0},
};

static void login_set_state(struct login *login, enum login_state state)
{
    state_change(login_states, login->state, state, "login fd=%d", login->fd);
    login->state = state;
}

/* The end */

static void login_stop_watchers(struct login *login)
{
    ev_io_stop(login->loop, &login->readable);
    ev_timer_stop(login->loop, &login->timer);
}

static void login_finish(struct login *login, bool accepted)
{
    login_stop_watchers(login);
    login_set_state(login, LOGIN_OVER);
    login->done(login, accepted); /* may release LOGIN */
}

static void set_timer(struct login *login, double seconds)
{
    ev_timer_stop(login->loop, &login->timer);
    ev_timer_set(&login->timer, seconds, 0);
    ev_timer_start(login->loop, &login->timer);
}

/* ANSWER fits into the empty send buffer of a new socket. */
static void login_refuse(struct login *login, const char *answer)
{
    (void)send(login->fd, answer, strlen(answer), MSG_DONTWAIT | MSG_NOSIGNAL);
    (void)shutdown(login->fd, SHUT_WR);
    login_set_state(login, LOGIN_LINGERING);
    set_timer(login, LINGER_SECONDS);
    ev_io_start(login->loop, &login->readable);
}

/* The kind of a client */

enum {
    METHOD_BYTES = 20,         /* longer than every method there is */
    TLS_HANDSHAKE_BYTE = 0x16, /* RFC 8446, 5.1: the type of a record */
};

/* How the target of a request line begins (RFC 9112, 3.2). The target of CONNECT may be
 * anything. */
static const char *const targets[] = {"/", "*", "http:", "https:"};

enum { TARGETS = ARRAY_SIZE(targets) };

static size_t letters_at(const char *bytes, size_t length)
{
    size_t count = 0;

    while (count < length && ((bytes[count] >= 'A' && bytes[count] <= 'Z') ||
                              (bytes[count] >= 'a' && bytes[count] <= 'z')))
        count++;
    return count;
}

static enum greeting classify_target(const char *bytes, size_t length)
{
    enum greeting greeting = GREETING_LINE;

    for (size_t i = 0; i < TARGETS; i++) {
        size_t wanted = strlen(targets[i]);

        if (strncasecmp(bytes, targets[i], length < wanted ? length : wanted) != 0)
            continue;
        if (length >= wanted)
            return GREETING_HTTP;
        greeting = GREETING_UNDECIDED;
    }
    return greeting;
}

enum greeting greeting_classify(const char *bytes, size_t length)
{
    size_t method = letters_at(bytes, length);

    if (length > 0 && bytes[0] == TLS_HANDSHAKE_BYTE)
        return GREETING_TLS;
    if (method > METHOD_BYTES)
        return GREETING_LINE;
    if (method == length)
        return GREETING_UNDECIDED;
    if (method == 0 || bytes[method] != ' ')
        return GREETING_LINE;
    if (method == strlen("CONNECT") && strncasecmp(bytes, "CONNECT", method) == 0)
        return GREETING_HTTP;
    return classify_target(bytes + method + 1, length - method - 1);
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

static void login_trim(const char **text, size_t *length)
{
    while (*length > 0 && is_space((*text)[*length - 1]))
        (*length)--;
    while (*length > 0 && is_space(**text)) {
        (*text)++;
        (*length)--;
    }
}

/* The text behind `Authorization:` in the LENGTH bytes of LINE, which are wiped; owned by the
 * caller. NULL when the line begins with another word. */
static char *take_authorization(char *line, size_t length)
{
    const char *value = line;
    size_t value_length = length;
    char *authorization = NULL;

    if (!memchr(line, '\0', length) && skip_word(&value, &value_length, "Authorization:")) {
        login_trim(&value, &value_length);
        authorization = memory_new(value_length + 1, 1); /* printing would leave another copy */
        memcpy(authorization, value, value_length);
    }
    explicit_bzero(line, length);
    return authorization;
}

static void end_check(struct login *login)
{
    if (login->check.status == 0) {
        login_finish(login, true);
        return;
    }
    metrics_count(METRIC_REFUSALS, "token", NULL);
    login_refuse(login, unauthorized);
}

static void login_on_checked(struct authority_check *check)
{
    end_check(CONTAINER_OF(check, struct login, check));
}

/* AUTHORIZATION is taken, and wiped before anything else is done for the client. */
static void check_authorization(struct login *login, char *authorization)
{
    enum outcome outcome;

    login->check = (struct authority_check){
        .authority = login->authority,
        .peer = login->peer,
        .authorization = authorization,
        .done = login_on_checked,
    };
    login_stop_watchers(login);
    login_set_state(login, LOGIN_CHECKING);
    outcome = authority_check(&login->check);
    if (authorization)
        explicit_bzero(authorization, strlen(authorization));
    free(authorization);
    if (outcome == OUTCOME_READY)
        end_check(login);
}

/* A greeting that is neither HTTP nor TLS. */
static void check_line(struct login *login)
{
    char *line = buffer_bytes(&login->received);
    size_t length = buffer_length(&login->received);
    const char *newline = memchr(line, '\n', length);
    char *authorization;

    if (!newline && length < LOGIN_LINE_BYTES)
        return;
    length = newline ? (size_t)(newline - line) : length - 1;
    authorization = take_authorization(line, length);
    buffer_consume(&login->received, length + 1);
    check_authorization(login, authorization);
}

static void login_check(struct login *login)
{
    switch (greeting_classify(buffer_bytes(&login->received), buffer_length(&login->received))) {
    case GREETING_UNDECIDED:
        return;
    case GREETING_LINE:
        if (login->authority)
            check_line(login);
        else
            login_finish(login, true);
        return;
    case GREETING_HTTP:
        log_info("an HTTP request was refused");
        login_refuse(login, not_http);
        return;
    case GREETING_TLS:
        log_info("a TLS handshake was refused");
        login_refuse(login, "");
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
        login_check(login);
    } else if (length == 0) {
        login_finish(login, !login->authority); /* the stream will see the end as well */
    } else if (errno != EAGAIN && errno != EINTR) {
        login_finish(login, false);
    }
}

static void drop_input(struct login *login)
{
    char dropped[DROP_BYTES];
    ssize_t length = recv(login->fd, dropped, sizeof(dropped), MSG_DONTWAIT);

    if (length == 0 || (length < 0 && errno != EAGAIN && errno != EINTR))
        login_finish(login, false);
}

static void login_on_readable(struct ev_loop *loop, struct ev_io *watcher, int events)
{
    struct login *login = CONTAINER_OF(watcher, struct login, readable);

    (void)loop;
    if (events & EV_ERROR)
        login_finish(login, false);
    else if (login->state == LOGIN_READING)
        read_line(login);
    else
        drop_input(login);
}

static void login_on_timer(struct ev_loop *loop, struct ev_timer *timer, int events)
{
    struct login *login = CONTAINER_OF(timer, struct login, timer);

    (void)loop;
    (void)events;
    login_finish(login, false);
}

void login_start(struct login *login)
{
    buffer_init(&login->received, LOGIN_LINE_BYTES);
    login->state = LOGIN_READING;
    ev_io_init(&login->readable, login_on_readable, login->fd, EV_READ);
    ev_timer_init(&login->timer, login_on_timer, 0, 0);
    ev_io_start(login->loop, &login->readable);
    if (login->authority)
        set_timer(login, login->seconds);
}

void login_deinit(struct login *login)
{
    login_stop_watchers(login);
    authority_check_deinit(&login->check);
    buffer_deinit(&login->received);
}
