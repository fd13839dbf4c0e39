#include "server/commands/command.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/printable.h"
#include "server/commands/options.h"
#include "server/configuration/config.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

enum { LINE_NAME_COLUMNS = 19 };

enum { SIGNAL_STATUS_BASE = 128 };

int command_exit_status(const struct error *err)
{
    if (err->number == EACCES || err->number == EPERM)
        return EX_NOPERM;
    if (err->number == EADDRINUSE)
        return EX_UNAVAILABLE;
    if (err->number == ENOENT && err->code == ERROR_SYSTEM)
        return EX_NOINPUT;
    switch (err->code) {
    case ERROR_USAGE:
    case ERROR_INVALID_ARGUMENTS:
        return EX_USAGE;
    case ERROR_CONFIG:
        return EX_CONFIG;
    case ERROR_UNAVAILABLE:
    case ERROR_BUSY:
    case ERROR_TIMEOUT:
        return EX_UNAVAILABLE;
    default:
        return 1;
    }
}

int command_fail(const struct error *err)
{
    AUTO_FREE char *text = error_text(err);

    log_error("%s", text);
    return command_exit_status(err);
}

enum outcome command_keep(const struct error *err, struct error *kept)
{
    if (!err)
        return OUTCOME_READY;
    error_copy(kept, err);
    return OUTCOME_FAILED;
}

static int command_fail_output(const struct error *err)
{
    if (err->number !=
        EPIPE) /* that the reader is gone is no news, as in `pyexecd schema | head` */
        log_error("cannot write the output: %s", err->message);
    return EX_IOERR;
}

int command_end_output(void)
{
    struct error err = ERROR_INIT;

    if (fflush(stdout) == 0 && !ferror(stdout))
        return EX_OK;
    error_set_errno(&err, errno, "write");
    return command_fail_output(&err);
}

int command_print_json(const json_t *value)
{
    AUTO_FREE char *text = json_dumps(value, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    AUTO_FREE char *line = memory_format("%s\n", text);
    struct error err = ERROR_INIT;

    if (command_end_output() != EX_OK)
        return EX_IOERR;
    if (fd_write_all(STDOUT_FILENO, line, strlen(line), &err) < 0)
        return command_fail_output(&err);
    return EX_OK;
}

static void command_print_row(const char *mark, const char *name, char *text)
{
    printable_clean(text);
    printf("  %-4s %-*s%s\n", mark, *text ? LINE_NAME_COLUMNS : 0, name, text);
}

void command_print_line(const char *mark, const char *name, const char *text)
{
    AUTO_FREE char *copy = memory_copy_string(text);
    char *rest = copy;

    command_print_row(mark, name, strsep(&rest, "\n"));
    while (rest && *rest)
        command_print_row("", "", strsep(&rest, "\n"));
}

int command_fail_config(const struct config *config)
{
    AUTO_FREE char *text = config_error_text(config);

    fputs(text, stderr);
    return EX_CONFIG;
}

struct config *command_open_config(const struct options *options)
{
    AUTO_FREE char *path =
        options->config_path ? memory_copy_string(options->config_path) : config_find();

    return config_load(path);
}

struct config *command_load_config(const struct options *options, int *ret_status)
{
    struct config *config = command_open_config(options);

    if (!config_has_errors(config))
        return config;
    *ret_status = command_fail_config(config);
    if (config_is_missing(config))
        *ret_status = EX_NOINPUT;
    config_free(config);
    return NULL;
}

enum result_form command_result_form(const struct options *options, const struct config *config)
{
    const char *configured = json_object_get_string(config_tree(config), "results");

    return options->results ? options->results : result_form_find(configured);
}

bool command_is_private(const char *const *addresses)
{
    return strcmp(addresses[0], "stdio") == 0 && !addresses[1];
}

const char *command_find_start(const char *const *addresses)
{
    return command_is_private(addresses) ? "." : NULL;
}

void command_list_addresses(const struct options *options, const struct config *config,
                            const char **addresses)
{
    const json_t *address;
    size_t i;

    memcpy(addresses, options->addresses, sizeof options->addresses);
    if (addresses[0])
        return;
    json_array_foreach (json_object_get(config_tree(config), "listen"), i, address)
        if (i < OPTIONS_ADDRESSES)
            addresses[i] = json_string_value(address);
}

static const int interruption_signals[INTERRUPTION_SIGNALS] = {SIGINT, SIGTERM, SIGHUP};

static void interruption_on_signal(struct ev_loop *loop, struct ev_signal *watcher, int events)
{
    struct interruption *interruption = watcher->data;

    (void)events;
    interruption->signal = watcher->signum;
    if (interruption->came)
        interruption->came(interruption);
    ev_break(loop, EVBREAK_ALL);
}

void interruption_start(struct interruption *interruption, struct ev_loop *loop)
{
    *interruption = (struct interruption){.loop = loop};
    for (int i = 0; i < INTERRUPTION_SIGNALS; i++) {
        ev_signal_init(&interruption->watchers[i], interruption_on_signal, interruption_signals[i]);
        interruption->watchers[i].data = interruption;
        ev_set_priority(&interruption->watchers[i], EV_MAXPRI);
        ev_signal_start(loop, &interruption->watchers[i]);
    }
}

void interruption_stop(struct interruption *interruption)
{
    for (int i = 0; i < INTERRUPTION_SIGNALS; i++)
        ev_signal_stop(interruption->loop, &interruption->watchers[i]);
}

int interruption_status(int number)
{
    return SIGNAL_STATUS_BASE + number;
}
