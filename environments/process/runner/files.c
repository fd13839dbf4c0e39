/* The files of a sandbox, by Landlock: the same list as its root has (root.c). Where no root of its
 * own can be had these rules alone hold it, over the machine's files.
 *
 * Most of the rules are the same for every program, and made ahead of time. */
#include "environments/process/runner/files.h"

#include "environments/process/landlock.h"
#include "environments/process/runner/message.h"
#include "environments/process/runner/plain_path.h"
#include "environments/process/runner/program.h"
#include "environments/process/runner/root_limits.h"
#include "environments/process/runner/root_table.h"
#include "environments/process/runner/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Allows ACCESS to PLACE (taken). If errno says that PLACE does not exist, no rule is needed. */
static int files_allow_place(int rules, int place, enum landlock_access access)
{
    int ret;

    if (place < 0)
        return errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == ELOOP ? 0 : -1;
    ret = landlock_allow(rules, place, access);
    close(place);
    return ret;
}

static int files_allow_named(int rules, const char *path, enum landlock_access access)
{
    return files_allow_place(rules, plain_path_open(AT_FDCWD, path, 0), access);
}

/* Allows ACCESS to the target of PATH, a path of the machine. */
static int files_allow(int rules, const char *path, enum landlock_access access)
{
    return files_allow_place(rules, open(path, O_PATH | O_CLOEXEC), access);
}

static bool files_is_device(const char *path)
{
    return strncmp(path, "/dev/", strlen("/dev/")) == 0;
}

/* With a root of its own one rule for all of /etc suffices (files_allow_own). */
static bool files_is_setting(const char *path)
{
    return strncmp(path, "/etc/", strlen("/etc/")) == 0;
}

static int files_allow_table(int rules, bool has_root)
{
    for (size_t i = 0; i < root_entry_count; i++)
        if (!(has_root && files_is_setting(root_entries[i].path)) &&
            files_allow(rules, root_entries[i].path,
                        files_is_device(root_entries[i].path) ? LANDLOCK_WRITE : LANDLOCK_READ) < 0)
            return -1;
    for (size_t i = 0; !has_root && i < root_setting_count; i++)
        if (files_allow(rules, root_settings[i], LANDLOCK_READ) < 0)
            return -1;
    return files_allow(rules, "/proc", LANDLOCK_READ);
}

/* Allows ACCESS to places that only a root of its own makes private. */
static int files_allow_own(int rules)
{
    return files_allow(rules, "/", LANDLOCK_LIST) < 0 ||
                   files_allow(rules, "/etc", LANDLOCK_READ) < 0 ||
                   files_allow(rules, "/tmp", LANDLOCK_WRITE) < 0 ||
                   files_allow(rules, "/dev/pts", LANDLOCK_DEVICES) < 0
               ? -1
               : 0;
}

/* Allows listing the directory in which the kernel, or its device manager, has a name for each
 * device: libraries look there for theirs. A root of its own has no other names there. */
static int files_allow_names(int rules, const char *path)
{
    static const char *const places[] = {"/dev/dri/", "/sys/class/", "/sys/bus/"};
    char place[PATH_MAX];

    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strncmp(path, places[i], strlen(places[i])) == 0) {
            snprintf(place, sizeof place, "%.*s", (int)(strrchr(path, '/') - path), path);
            return files_allow(rules, place, LANDLOCK_LIST);
        }
    return 0;
}

static int files_allow_path(int rules, const char *path)
{
    switch (path[0]) {
    case CONTROL_WRITE:
        return files_allow_named(rules, path + 1, LANDLOCK_WRITE);
    case CONTROL_DEVICE:
        return files_allow_names(rules, path + 1) < 0
                   ? -1
                   : files_allow(rules, path + 1, LANDLOCK_DEVICES);
    default:
        return files_allow_names(rules, path + 1) < 0
                   ? -1
                   : files_allow_named(rules, path + 1, LANDLOCK_READ);
    }
}

static int files_allow_paths(int rules, char *const *paths)
{
    for (; *paths; paths++)
        if (files_allow_path(rules, *paths) < 0)
            return -1;
    return 0;
}

int files_prepare(const struct runner_preparation *preparation)
{
    const bool has_root = preparation->layers & LAYER_ROOT;
    int rules = landlock_new();

    if (rules < 0 || files_allow_table(rules, has_root) < 0 ||
        (has_root && files_allow_own(rules) < 0))
        return -1;
    return rules;
}

int files_restrict(const struct runner_preparation *preparation, const struct program *program)
{
    const int rules = preparation->rules;
    const bool has_root = preparation->layers & LAYER_ROOT;

    if (files_allow_paths(rules, program->paths) < 0 ||
        (has_root && files_allow(rules, ROOT_LIMITS_GROUP, LANDLOCK_READ) < 0) ||
        (has_root && program_has_devices(program) &&
         files_allow(rules, "/proc", LANDLOCK_WRITE) < 0) ||
        (preparation->has_mounts && files_allow(rules, "/dev/shm", LANDLOCK_WRITE) < 0))
        return -1;
    if (landlock_restrict(rules) == 0)
        return 0;
    message_send_refusal(NEED_FILES, "cannot apply Landlock rules");
    return -1;
}
