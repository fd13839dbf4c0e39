#include "environments/venv/scripts.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/memory.h"
#include "base/untrusted.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FIRST_LINE_BYTES = 120, /* of an interpreter's path, that every kernel takes */
    HEAD_BYTES = 8 * 1024,  /* hold the lines that name the interpreter, one or three */
    SCRIPT_BYTES = 1 << 20, /* scripts of installers are smaller */
};

/* The first line cannot hold a path that is long or has blanks. Then it names the shell, for which
 * the next lines are a command; for Python they are a string. Owned by the caller. */
static char *first_lines(const char *interpreter)
{
    if (strlen(interpreter) <= FIRST_LINE_BYTES && !strpbrk(interpreter, " \t"))
        return memory_format("#!%s\n", interpreter);
    return memory_format("#!/bin/sh\n'''exec' \"%s\" \"$0\" \"$@\"\n' '''\n", interpreter);
}

int venv_script_write(const char *path, const char *interpreter, const char *body,
                      struct error *err)
{
    AUTO_FREE char *head = first_lines(interpreter);
    AUTO_FREE char *text = memory_format("%s%s", head, body);

    return fd_write_new_file(path, 0777, text, strlen(text), err);
}

/* The text of the regular file NAME, if it is small and a script; NULL: it is left as it is. Owned
 * by the caller. */
static char *venv_scripts_read_script(int bin, const char *name, mode_t *ret_mode,
                                      size_t *ret_length)
{
    struct error ignored = ERROR_INIT;
    AUTO_CLOSE int fd = untrusted_open(bin, name, O_RDONLY, &ignored);
    struct stat status;
    char *text;

    if (fd < 0 || fstat(fd, &status) < 0)
        return NULL;
    text = fd_read_all(fd, SCRIPT_BYTES, ret_length, &ignored);
    if (text && strncmp(text, "#!", 2) == 0) {
        *ret_mode = status.st_mode & 07777;
        return text;
    }
    free(text);
    return NULL;
}

/* Replaces FROM by TO, which is no longer than FROM, in the first lines of TEXT. */
static size_t venv_scripts_replace(char *text, size_t length, const char *from, const char *to)
{
    size_t from_length = strlen(from);
    size_t to_length = strlen(to);
    char *at = text;

    for (;;) {
        size_t head = length < HEAD_BYTES ? length : HEAD_BYTES;

        at = memmem(at, (size_t)(text + head - at), from, from_length);
        if (!at)
            return length;
        memcpy(at, to, to_length);
        memmove(at + to_length, at + from_length, (size_t)(text + length - at) - from_length);
        length -= from_length - to_length;
        at += to_length;
    }
}

static int replace_file(int bin, const char *name, const char *text, size_t length, mode_t mode,
                        struct error *err)
{
    AUTO_FREE char *next = memory_format(".%s.next", name);
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    AUTO_CLOSE int fd = openat(bin, next, flags, mode);

    if (fd < 0)
        return error_set_errno(err, errno, "cannot rewrite %s", name);
    if (fd_write_all(fd, text, length, err) < 0)
        return error_prefix(err, "cannot rewrite %s", name);
    if (fchmod(fd, mode) < 0 || renameat(bin, next, bin, name) < 0)
        return error_set_errno(err, errno, "cannot rewrite %s", name);
    return 0;
}

/* A sandbox without an own root sets no modes: the installer could not make it a program. */
static int move_script(int bin, const char *name, const char *from, const char *to,
                       struct error *err)
{
    mode_t mode;
    size_t length;
    AUTO_FREE char *text = venv_scripts_read_script(bin, name, &mode, &length);
    size_t moved = text ? venv_scripts_replace(text, length, from, to) : 0;

    if (!text || moved == length)
        return 0;
    return replace_file(bin, name, text, moved, mode | S_IXUSR, err);
}

static void venv_scripts_close_stream(DIR **stream)
{
    if (*stream)
        closedir(*stream);
}

int venv_scripts_move(const char *bin, const char *from, const char *to, struct error *err)
{
    AUTO(venv_scripts_close_stream) DIR *stream = opendir(bin);
    const struct dirent *entry;

    if (!stream)
        return error_set_errno(err, errno, "cannot read %s", bin);
    while ((entry = readdir(stream)))
        if (entry->d_name[0] != '.' && move_script(dirfd(stream), entry->d_name, from, to, err) < 0)
            return -1;
    return 0;
}
