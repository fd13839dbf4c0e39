#include "environments/venv/parent.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/memory.h"
#include "base/untrusted.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define SETTINGS_NAME "pyvenv.cfg"
#define FILE_NAME     "pyexecd-parent.pth"

enum { PARENT_SETTINGS_BYTES = 64 * 1024 };

/* The directory around PATH; "" for the root. Owned by the caller. */
static char *venv_parent_around(const char *path)
{
    const char *slash = strrchr(path, '/');

    return memory_format("%.*s", slash ? (int)(slash - path) : 0, path);
}

char *venv_parent_find(const char *python)
{
    AUTO_FREE char *bin = venv_parent_around(python ? python : "");
    AUTO_FREE char *parent = venv_parent_around(bin);
    AUTO_FREE char *settings = memory_format("%s/" SETTINGS_NAME, parent);

    return *parent && access(settings, F_OK) == 0 ? STEAL_PTR(parent) : NULL;
}

/* True if LINE is "include-system-site-packages = false", as Python reads it. */
static bool venv_parent_is_no(char *line)
{
    static const char key[] = "include-system-site-packages";
    char *value = strchr(line, '=');

    line += strspn(line, " \t");
    if (!value || strncasecmp(line, key, strlen(key)) != 0)
        return false;
    value += 1 + strspn(value + 1, " \t");
    return strncasecmp(value, "true", strlen("true")) != 0;
}

bool venv_parent_shows_base(const char *parent)
{
    AUTO_FREE char *path = memory_format("%s/" SETTINGS_NAME, parent);
    AUTO_FREE char *real = realpath(path, NULL);
    struct error ignored = ERROR_INIT;
    size_t length;
    AUTO_FREE char *text =
        real ? untrusted_read(AT_FDCWD, real, PARENT_SETTINGS_BYTES, &length, &ignored) : NULL;
    char *rest = text;

    for (char *line; rest && (line = strsep(&rest, "\n"));)
        if (venv_parent_is_no(line))
            return false;
    return text != NULL;
}

void venv_parent_identify(const char *parent, struct file_identity *ret)
{
    AUTO_FREE char *path = memory_format("%s/" SETTINGS_NAME, parent);

    file_identity_read(ret, path);
}

bool venv_parent_is(const char *parent, const struct file_identity *identity)
{
    AUTO_FREE char *path = memory_format("%s/" SETTINGS_NAME, parent);

    return file_identity_holds(identity, path);
}

/* The bytes of TEXT in hexadecimal, since names of files may have any encoding. Owned by the
 * caller. */
static char *venv_parent_digits(const char *text)
{
    char *digits = memory_new(2 * strlen(text) + 1, 1);

    for (size_t i = 0; text[i]; i++)
        (void)snprintf(digits + 2 * i, 3, "%02x", (unsigned char)text[i]);
    return digits;
}

/* The function of `site` also follows the files of this kind in the parent. */
int venv_parent_show(const char *parent, const char *written, const char *packages,
                     struct error *err)
{
    AUTO_FREE char *path = memory_format("%s/%s/" FILE_NAME, written, packages);
    AUTO_FREE char *place = memory_format("%s/%s", parent, packages);
    AUTO_FREE char *digits = venv_parent_digits(place);
    AUTO_FREE char *text = memory_format(
        "import os, site; site.addsitedir(os.fsdecode(bytes.fromhex('%s')))\n", digits);

    return fd_write_new_file(path, 0666, text, strlen(text), err);
}
