/* `pyexecd completions SHELL`: the file by which a shell completes command lines of the program. It
 * is installed with the program, or lies in its build directory. */
#include "base/cleanup.h"
#include "base/fd.h"
#include "base/memory.h"
#include "server/commands/command.h"
#include "server/commands/options.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

enum { COMPLETIONS_BYTES = 1024 * 1024 };

static const struct completions {
    const char *shell;
    const char *places[2]; /* as seen from the folder of the program */
} completions_files[] = {
    {"bash", {"../share/bash-completion/completions/pyexecd", "docs/pyexecd"}},
    {"zsh", {"../share/zsh/site-functions/_pyexecd", "docs/_pyexecd"}},
    {"fish", {"../share/fish/vendor_completions.d/pyexecd.fish", "docs/pyexecd.fish"}},
};

static const struct completions *completions_find(const char *shell, struct error *err)
{
    for (size_t i = 0; i < ARRAY_SIZE(completions_files); i++)
        if (strcmp(completions_files[i].shell, shell) == 0)
            return &completions_files[i];
    error_set(err, ERROR_USAGE, "completions %s: must be bash, zsh or fish", shell);
    return NULL;
}

/* The path of an existing file; owned by the caller, NULL with ERR. */
static char *completions_find_file(const struct completions *completions, struct error *err)
{
    char program[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    const char *slash;

    program[length > 0 ? length : 0] = '\0';
    slash = strrchr(program, '/');
    for (size_t i = 0; slash && i < ARRAY_SIZE(completions->places); i++) {
        AUTO_FREE char *found =
            memory_format("%.*s/%s", (int)(slash - program), program, completions->places[i]);

        if (access(found, R_OK) == 0)
            return STEAL_PTR(found);
    }
    error_set(err, ERROR_UNAVAILABLE, "the completions for %s are not installed with %s",
              completions->shell, program);
    return NULL;
}

int command_completions(const struct options *options)
{
    struct error err = ERROR_INIT;
    const struct completions *completions = completions_find(options->shell, &err);
    AUTO_FREE char *path = completions ? completions_find_file(completions, &err) : NULL;
    size_t length = 0;
    AUTO_FREE char *text = path ? fd_read_file(path, COMPLETIONS_BYTES, &length, &err) : NULL;

    if (!text)
        return command_fail(&err);
    fputs(text, stdout);
    return command_end_output();
}
