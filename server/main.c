/* The program: reads the command line, hardens the process, runs the command. */
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "server/commands/command.h"
#include "server/commands/help.h"
#include "server/commands/options.h"

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

enum { LARGE_BYTES = 128 * 1024 };

/* Scripts of the same user must not be able to read this process, nor to get anything of it by
 * accident. */
static void main_harden(void)
{
    const struct rlimit no_core = {0};

    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_DUMPABLE, 0);
    setrlimit(RLIMIT_CORE, &no_core);
}

/* A descriptor that was closed would be that of the next file that is opened, and requests would be
 * read from it, or the log written to it. It gets a descriptor that fails as if it were closed. */
static void main_fill_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* Files that scripts make in a user's own directory get the rights that the user's mask gives. */
static void main_set_mask(const struct options *options)
{
    if (options->command != COMMAND_RUN && options->command != COMMAND_MAP &&
        options->command != COMMAND_CALL)
        umask(S_IRWXG | S_IRWXO);
}

/* A threshold that is set does not move. By default each large answer raises it, and the memory of
 * the next answer is not returned to the kernel. */
static void return_large_memory(void)
{
    mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
}

static int main_print(const char *text)
{
    fputs(text, stdout);
    return command_end_output();
}

static int main_execute(const struct options *options)
{
    switch (options->command) {
    case COMMAND_SERVE:
        return command_serve(options);
    case COMMAND_NODE:
        return command_node(options);
    case COMMAND_RUN:
        return command_run(options);
    case COMMAND_MAP:
        return command_map(options);
    case COMMAND_CALL:
        return command_call(options);
    case COMMAND_PREPARE:
        return command_prepare(options);
    case COMMAND_DOCTOR:
        return command_doctor(options);
    case COMMAND_SCHEMA:
        return command_schema(options);
    case COMMAND_TOKEN:
        return command_token(options);
    case COMMAND_INSTALL:
        return command_install(options);
    case COMMAND_UNINSTALL:
        return command_uninstall(options);
    case COMMAND_CHECK_CONFIG:
        return command_check_config(options);
    case COMMAND_CONFIG:
        return command_config(options);
    case COMMAND_TOOLS:
        return command_tools(options);
    case COMMAND_COMPLETIONS:
        return command_completions(options);
    case COMMAND_HELP:
        return main_print(help_page(options->command_name));
    case COMMAND_VERSION:
        return main_print("pyexecd " PYEXECD_VERSION "\n");
    }
    return EX_SOFTWARE;
}

static int main_refuse(const struct options *options, const struct error *err)
{
    const char *command = options->command_name;

    if (options->command == COMMAND_CALL && !isatty(STDIN_FILENO))
        return command_call_refuse(options, err);
    fprintf(stderr, "pyexecd: %s\nTry pyexecd%s%s --help.\n", err->message, command ? " " : "",
            text_or_none(command));
    return EX_USAGE;
}

int main(int argc, char **argv)
{
    struct options options;
    struct error err = ERROR_INIT;

    main_fill_standard_streams();
    main_harden();
    return_large_memory();
    json_require_memory();
    if (options_parse(&options, argc, argv, &err) < 0)
        return main_refuse(&options, &err);
    main_set_mask(&options);
    log_open(options.log_level);
    return main_execute(&options);
}
