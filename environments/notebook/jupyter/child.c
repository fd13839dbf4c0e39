#include "environments/notebook/jupyter/child.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* pyexecd-init gives the starter of scripts to every program: this is none. */
static void child_forget_starter(void)
{
    const char *path = getenv("PYTHONPATH");
    const char *rest;

    if (!path || !text_starts_with(path, "/proc/self/fd/"))
        return;
    rest = strchr(path, ':');
    if (rest && rest[1])
        setenv("PYTHONPATH", rest + 1, 1);
    else
        unsetenv("PYTHONPATH");
}

static void child_set_variables(const json_t *variables)
{
    AUTO_FREE char *parent = memory_format("%d", (int)getppid());
    const char *name;
    json_t *value;

    child_forget_starter();
    setenv("JPY_PARENT_PID", parent, 1);              /* else ipykernel explains how to leave it */
    setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1", 0); /* and its debugger warns */
    json_object_foreach ((json_t *)variables, name, value)
        if (json_is_string(value))
            setenv(name, json_string_value(value), 1);
}

static _Noreturn void child_execute(char *const *command, const json_t *variables, int failure)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    sigset_t none;
    int number;

    setsid();
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    child_set_variables(variables);
    if (null >= 0 && dup2(null, STDIN_FILENO) == STDIN_FILENO)
        execvp(command[0], command);
    number = errno;
    (void)!write(failure, &number, sizeof number);
    _exit(EXIT_FAILURE);
}

static int child_spawn(struct jupyter_child *child, char *const *command, const json_t *variables,
                       struct error *err)
{
    int ends[2];
    int failure = 0;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return error_set_errno(err, errno, "cannot make a pipe");
    child->pid = fork();
    if (child->pid == 0)
        child_execute(command, variables, ends[1]);
    close(ends[1]);
    if (child->pid > 0)
        (void)!read(ends[0], &failure, sizeof failure); /* nothing: it is executed */
    close(ends[0]);
    if (child->pid < 0)
        return error_set_errno(err, errno, "cannot fork");
    return failure ? error_set_errno(err, failure, "cannot execute %s", command[0]) : 0;
}

int jupyter_child_start(struct jupyter_child *child, const char *interpreter, const char *name,
                        const char *connection, struct error *err)
{
    const struct jupyter_search search = {
        .interpreter = interpreter,
        .path = getenv("JUPYTER_PATH"),
        .data = getenv("JUPYTER_DATA_DIR"),
        .home = getenv("HOME"),
    };
    struct jupyter_spec spec;
    char **command;
    int ret;

    if (jupyter_spec_find(&spec, &search, name, err) < 0) {
        jupyter_spec_deinit(&spec);
        return -1;
    }
    command = jupyter_spec_command(&spec, interpreter, connection);
    child->takes_messages = spec.takes_messages;
    ret = child_spawn(child, command, spec.variables, err);
    memory_free_strings(command);
    jupyter_spec_deinit(&spec);
    return ret;
}

void jupyter_child_interrupt(const struct jupyter_child *child)
{
    kill(-child->pid, SIGINT);
}

bool jupyter_child_has_ended(const struct jupyter_child *child, int *ret_status)
{
    return waitpid(child->pid, ret_status, WNOHANG) == child->pid;
}
