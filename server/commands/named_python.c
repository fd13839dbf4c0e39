#include "server/commands/named_python.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"
#include "environments/interpreter/search_path.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool named_python_is_version(const char *named)
{
    return *named && strchr("0123456789<>=!~", *named);
}

int named_python_check_version(const char *asker, const char *named, struct error *err)
{
    const bool is_old = named[0] != '3' && strchr("0123456789", named[0]);

    if (!is_old && !named[strspn(named, "0123456789.,<>=!~ ")])
        return 0;
    return error_set(err, ERROR_USAGE,
                     "%s \"%s\": must be a version of Python 3, such as 3.11 or \">=3.10,<3.13\"",
                     asker, named);
}

/* PATH, a program, in the real path of its directory. NULL: there is none. Owned by the caller. */
static char *named_python_place(const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    AUTO_FREE char *directory = memory_format("%.*s.", (int)(name - path), path);
    AUTO_FREE char *real = realpath(directory, NULL);
    AUTO_FREE char *place = memory_format("%s/%s", text_or_none(real), name);

    return real && search_path_is_program(place) ? STEAL_PTR(place) : NULL;
}

static char *named_python_look(const char *named)
{
    AUTO_FREE char *in_folder = memory_format("%s/bin/python", named);
    char *found = named_python_place(in_folder);

    if (found)
        return found;
    return strchr(named, '/') ? named_python_place(named) : search_path_find(named, 0);
}

char *named_python_find(const char *named, struct error *err)
{
    char *found = named_python_look(named);

    const bool is_path = strchr(named, '/') || access(named, F_OK) == 0;

    if (!found)
        error_set(err, ERROR_USAGE,
                  "--python: there is no Python %s %s; give a version, such as 3.11, a path, or a "
                  "name on PATH",
                  is_path ? "at" : "on PATH with the name", named);
    return found;
}
