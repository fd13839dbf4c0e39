#include "environments/process/cgroup_place.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/memory.h"
#include "environments/process/cgroup_entry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool cgroup_has_word(const char *text, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = text; at && (at = strstr(at, word)); at += length)
        if ((at == text || strchr(" ,\n", at[-1])) && strchr(" ,\n", at[length]))
            return true;
    return false;
}

/* Our cgroup in the hierarchy with CONTROLLER ("" for v2) from /proc/self/cgroup, whose lines are
 * ID:CONTROLLERS:PATH (cgroups(7)). Owned by the caller, or NULL. */
static char *own_path(const char *controller)
{
    struct error ignored = ERROR_INIT;
    size_t length;
    AUTO_FREE char *text = fd_read_file("/proc/self/cgroup", CGROUP_ENTRY_BYTES, &length, &ignored);
    char *rest = text;

    for (char *line; rest && (line = strsep(&rest, "\n"));) {
        char *controllers = strchr(line, ':');
        char *path = controllers ? strchr(controllers + 1, ':') : NULL;

        if (!path)
            continue;
        *controllers++ = '\0';
        *path++ = '\0';
        if (*controller ? cgroup_has_word(controllers, controller) : strcmp(line, "0") == 0)
            return memory_copy_string(path);
    }
    return NULL;
}

/* Where the hierarchy is mounted: a line of /proc/self/mountinfo (proc(5)) is
 * ID PARENT DEVICE ROOT MOUNTPOINT OPTIONS ... - TYPE SOURCE SUPEROPTIONS.
 * The directory of our own cgroup below it; owned by the caller, or NULL. */
char *cgroup_own_directory(const char *type, const char *controller)
{
    struct error ignored = ERROR_INIT;
    size_t length;
    AUTO_FREE char *text = fd_read_file("/proc/self/mountinfo", 1024 * 1024, &length, &ignored);
    AUTO_FREE char *path = own_path(controller);
    char *rest = text;

    for (char *line; path && rest && (line = strsep(&rest, "\n"));) {
        char mounted_root[512];
        char point[512];
        char actual[32];
        char options[512];
        char *tail = strstr(line, " - ");
        const char *below = path;

        if (!tail || sscanf(line, "%*s %*s %*s %511s %511s", mounted_root, point) != 2 ||
            sscanf(tail, " - %31s %*s %511s", actual, options) != 2 || strcmp(actual, type) != 0)
            continue;
        if (*controller && !cgroup_has_word(options, controller))
            continue;
        if (strcmp(mounted_root, "/") != 0 &&
            strncmp(path, mounted_root, strlen(mounted_root)) == 0)
            below += strlen(mounted_root);
        return memory_format("%s%s", point, strcmp(below, "/") == 0 ? "" : below);
    }
    return NULL;
}
