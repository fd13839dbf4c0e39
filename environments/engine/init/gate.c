/* Whether a Python may be started ahead of its script, and how it waits then
 * (base/starter/starter.h).
 *
 * The modules that Python loads by itself run before there is a call. None may come from the
 * working directory, where scripts write: the server has checked the volumes, and here is the rest.
 */
#include "base/cleanup.h"
#include "base/memory.h"
#include "base/starter/starter.h"
#include "environments/engine/init/init.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define PYTHON_PREFIX  "PYTHON"
#define GATE_USER_SITE ".local" /* in HOME, which is the working directory */

/* Variables that do not change which modules are loaded, like all variables with the prefix
 * PYTHON_. */
static const char *const harmless[] = {
    "PYTHONDONTWRITEBYTECODE=", "PYTHONHASHSEED=", "PYTHONIOENCODING=",
    "PYTHONUNBUFFERED=",        "PYTHONUTF8=",
};

static bool begins_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool is_harmless(const char *variable)
{
    if (begins_with(variable, "LD_"))
        return false;
    if (!begins_with(variable, PYTHON_PREFIX) || variable[strlen(PYTHON_PREFIX)] == '_')
        return true;
    for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
        if (begins_with(variable, harmless[i]))
            return true;
    return false;
}

/* True if every entry of PATH is absolute and outside of HOME. */
static bool is_path_harmless(const char *path, const char *home)
{
    for (; path; path = strchr(path, ':') ? strchr(path, ':') + 1 : NULL)
        if (*path != '/' || begins_with(path, home))
            return false;
    return true;
}

static bool gate_has_user_site(const char *home)
{
    AUTO_FREE char *path = memory_format("%s/" GATE_USER_SITE, home);
    struct stat status;

    return fstatat(AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

bool gate_is_safe(void)
{
    const char *home = getenv("HOME");

    for (char **variable = environ; *variable; variable++)
        if (!is_harmless(*variable))
            return false;
    return home && is_path_harmless(getenv("PATH"), home) && !gate_has_user_site(home);
}

bool gate_make(struct gate *gate)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return false;
    *gate = (struct gate){.ours = ends[0], .theirs = ends[1]};
    return true;
}

bool gate_give_tools(const struct gate *gate, int tools)
{
    return tools < 0 || starter_send_tools(gate->ours, tools);
}

bool gate_open(const struct gate *gate)
{
    return send(gate->ours, "", 1, MSG_NOSIGNAL) == 1;
}
