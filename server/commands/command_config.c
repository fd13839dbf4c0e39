/* `pyexecd config init`: a configuration to begin with, which explains the keys and sets none. A
 * file that is there stays as it is. */
#include "base/cleanup.h"
#include "base/fd.h"
#include "base/memory.h"
#include "server/commands/command.h"
#include "server/commands/options.h"
#include "server/commands/sample.h"
#include "server/configuration/config.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

/* The file to write; owned by the caller, NULL with ERR. Its folder is made. */
static char *command_config_place(const struct options *options, struct error *err)
{
    char *path = options->file ? memory_copy_string(options->file) : config_home_path();
    AUTO_FREE char *folder = NULL;

    if (!path) {
        error_set(err, ERROR_USAGE, "config init: HOME is not set; name a FILE");
        return NULL;
    }
    folder = memory_copy_string(path);
    *(strrchr(folder, '/') ? strrchr(folder, '/') : folder) = '\0';
    if (!options->file && fd_make_directories(folder, S_IRWXU, err) < 0) {
        free(path);
        return NULL;
    }
    return path;
}

static int command_config_write(const char *path, struct error *err)
{
    if (access(path, F_OK) == 0)
        return error_set(err, ERROR_USAGE, "%s is there already; it stays as it is", path);
    return fd_write_new_file(path, S_IRUSR | S_IWUSR, sample_text, strlen(sample_text), err);
}

int command_config(const struct options *options)
{
    struct error err = ERROR_INIT;
    AUTO_FREE char *path = command_config_place(options, &err);

    if (!path || command_config_write(path, &err) < 0)
        return command_fail(&err);
    printf("wrote %s\nTo check it: pyexecd --check-config %s\n", path, path);
    return command_end_output();
}
