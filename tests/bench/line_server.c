#include "command.h"
#include "line_server.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    KIND_BYTES = 64, /* in which a line says that it is a notification */
    STOP_TRIES = 500,
    STOP_PAUSE_US = 10000,
};

void line_server_start(struct line_server *server, struct command *command, const char *log)
{
    int to_server[2];
    int from_server[2];

    command_make_pipe(to_server);
    command_make_pipe(from_server);
    server->pid = command_spawn(command, to_server[0], from_server[1], log);
    server->has_started = true;
    close(to_server[0]);
    close(from_server[1]);
    server->in = to_server[1];
    server->out = fdopen(from_server[0], "r");
}

void line_server_connect(struct line_server *server, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    server->in = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(server->in, (const struct sockaddr *)&address, sizeof address) < 0)
        command_fail("cannot connect to %s: %s", path, strerror(errno));
    server->out = fdopen(server->in, "r");
}

static bool line_server_has_ended(struct line_server *server)
{
    int status;

    return waitpid(server->pid, &status, WNOHANG) == server->pid;
}

void line_server_stop(struct line_server *server)
{
    bool has_ended;

    close(server->in);
    has_ended = line_server_has_ended(server);
    for (int i = 0; i < STOP_TRIES && !has_ended; i++) {
        usleep(STOP_PAUSE_US);
        has_ended = line_server_has_ended(server);
    }
    if (!has_ended)
        kill(server->pid, SIGKILL);
    fclose(server->out);
    free(server->line);
}

/* A line with REQUEST and a new id. Owned by the caller. */
static char *line_server_request(struct line_server *server, json_t *request)
{
    char *text;
    char *line;

    json_object_set_new(request, "id", json_integer(++server->last_id));
    text = json_dumps(request, JSON_COMPACT);
    if (asprintf(&line, "%s\n", text) < 0)
        abort();
    free(text);
    return line;
}

static void line_server_send(struct line_server *server, const char *line)
{
    size_t length = strlen(line);

    if (write(server->in, line, length) != (ssize_t)length)
        command_fail("cannot write to the server: %s", strerror(errno));
}

/* What has a method is a notification, such as that packages of a Python are known now. Told
 * without parsing. */
static bool line_server_is_news(const char *line)
{
    const char *method = strstr(line, "\"method\":");

    return method && method - line < KIND_BYTES;
}

void line_server_receive(struct line_server *server)
{
    do {
        if (getline(&server->line, &server->capacity, server->out) < 0)
            command_fail("the server closed its output");
    } while (line_server_is_news(server->line));
}

void line_server_check(struct line_server *server, const char *expect)
{
    if (expect && !strstr(server->line, expect))
        command_fail("the server answered %s", server->line);
}

double line_server_exchange(struct line_server *server, json_t *request)
{
    char *line = line_server_request(server, request);
    double begun = command_clock_us();
    double taken;

    line_server_send(server, line);
    line_server_receive(server);
    taken = command_clock_us() - begun;
    free(line);
    return taken;
}

void line_server_ask(struct line_server *server, json_t *request)
{
    char *line = line_server_request(server, request);

    line_server_send(server, line);
    free(line);
}
