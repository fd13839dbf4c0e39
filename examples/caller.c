/* Runs Python code in pyexecd and prints what a model would read; built as build/examples/caller.
 *
 *     caller CODE PROGRAM [ARGUMENT]...
 *
 * PROGRAM is the server, such as pyexecd. It reads one JSON message per line, and writes as
 * it reads. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static _Noreturn void caller_fail(const char *what)
{
    fprintf(stderr, "caller: %s\n", what);
    exit(2);
}

/* Starts COMMAND. Text written to *RET_INPUT is its input; its output comes from *RET_OUTPUT. */
static pid_t caller_start(char **command, FILE **ret_input, FILE **ret_output)
{
    int input[2], output[2], error;
    pid_t process;
    posix_spawn_file_actions_t actions;

    if (pipe2(input, O_CLOEXEC) < 0 || pipe2(output, O_CLOEXEC) < 0)
        caller_fail(strerror(errno));
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
    error = posix_spawnp(&process, command[0], &actions, NULL, command, environ);
    if (error)
        caller_fail(strerror(error));
    posix_spawn_file_actions_destroy(&actions);
    close(input[0]);
    close(output[1]); /* so that the end of the server is the end of its output */
    *ret_input = fdopen(input[1], "w");
    *ret_output = fdopen(output[0], "r");
    return process;
}

/* Sends MESSAGE, which is taken. */
static void caller_send(FILE *input, json_t *message)
{
    if (!message || json_dumpf(message, input, JSON_COMPACT) < 0 || fputc('\n', input) < 0 ||
        fflush(input))
        caller_fail("cannot send: the server has ended, or the code is not UTF-8");
    json_decref(message);
}

/* The result of request ID, which the caller owns. Other messages are news of the server, and left
 * out. */
static json_t *caller_receive(FILE *output, int id)
{
    json_t *message, *result;

    while ((message = json_loadf(output, JSON_DISABLE_EOF_CHECK, NULL))) {
        result = json_incref(json_object_get(message, "result"));
        if (json_integer_value(json_object_get(message, "id")) == id) {
            json_decref(message);
            return result;
        }
        json_decref(result);
        json_decref(message);
    }
    caller_fail("the server has ended");
}

static json_t *caller_run_python(FILE *input, FILE *output, const char *code)
{
    caller_send(input,
                json_pack("{s:s, s:i, s:s, s:{s:s, s:{}, s:{s:s, s:s}}}", "jsonrpc", "2.0", "id", 1,
                          "method", "initialize", "params", "protocolVersion", "2025-11-25",
                          "capabilities", "clientInfo", "name", "caller", "version", "1"));
    json_decref(caller_receive(output, 1));
    caller_send(input,
                json_pack("{s:s, s:s}", "jsonrpc", "2.0", "method", "notifications/initialized"));
    caller_send(input,
                json_pack("{s:s, s:i, s:s, s:{s:s, s:{s:s}}}", "jsonrpc", "2.0", "id", 2, "method",
                          "tools/call", "params", "name", "run_python", "arguments", "code", code));
    return caller_receive(output, 2);
}

int main(int argc, char **argv)
{
    FILE *input, *output;
    const char *text;
    json_t *result;
    pid_t server;
    int has_failed;

    if (argc < 3)
        caller_fail("usage: caller CODE PROGRAM [ARGUMENT]...");
    signal(SIGPIPE, SIG_IGN); /* a server that has ended is an error of fflush() */
    server = caller_start(argv + 2, &input, &output);
    result = caller_run_python(input, output, argv[1]);
    if (json_unpack(result, "{s:[{s:s}], s:b}", "content", "text", &text, "isError", &has_failed) <
        0)
        caller_fail("the server has refused the call");
    fputs(text, stdout);
    json_decref(result);
    fclose(input); /* the end of its input ends the server */
    fclose(output);
    waitpid(server, NULL, 0);
    return has_failed;
}
