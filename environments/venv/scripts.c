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

/* The beginning and the end of three lines for a shell; first_lines(). */
#define SHELL_LINE "#!/bin/sh\n'''exec'"
#define LAST_LINE  "' '''\n"

enum {
    FIRST_LINE_BYTES = 120, /* of an interpreter's path, that every kernel takes */
    SCRIPT_BYTES = 1 << 20, /* scripts of installers are smaller */
};

/* The first line cannot hold a path that is long or has blanks. Then it names the shell, for which
 * the next lines are a command; for Python they are a string. Owned by the caller. */
static char *first_lines(const char *interpreter)
{
    if (strlen(interpreter) <= FIRST_LINE_BYTES && !strpbrk(interpreter, " \t"))
        return memory_format("#!%s\n", interpreter);
    return memory_format(SHELL_LINE " \"%s\" \"$0\" \"$@\"\n" LAST_LINE, interpreter);
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

/* The end of the line at TEXT, behind its line feed. */
static const char *venv_scripts_line_end(const char *text)
{
    text += strcspn(text, "\n");
    return *text ? text + 1 : text;
}

/* Where the lines of TEXT end that name the interpreter at PATH; NULL: they name another one. */
static const char *venv_scripts_find_body(const char *text, const char *path)
{
    const char *second = venv_scripts_line_end(text);
    const char *third = venv_scripts_line_end(second);
    const size_t length = strlen(path);

    if (strncmp(text + strlen("#!"), path, length) == 0 &&
        strchr(" \t\r\n", text[strlen("#!") + length]))
        return second;
    if (strncmp(text, SHELL_LINE, strlen(SHELL_LINE)) == 0 &&
        memmem(second, (size_t)(third - second), path, length) &&
        strncmp(third, LAST_LINE, strlen(LAST_LINE)) == 0)
        return third + strlen(LAST_LINE);
    return NULL;
}

/* A program with new first lines. */
struct venv_script {
    const char *head;
    const char *body;
    size_t length; /* of the body */
    mode_t mode;
};

static int replace_file(int bin, const char *name, const struct venv_script *script,
                        struct error *err)
{
    AUTO_FREE char *next = memory_format(".%s.next", name);
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    AUTO_CLOSE int fd = -1;

    (void)unlinkat(bin, next, 0); /* of a server that was killed */
    fd = openat(bin, next, flags, script->mode);
    if (fd < 0)
        return error_set_errno(err, errno, "cannot rewrite %s", name);
    if (fd_write_all(fd, script->head, strlen(script->head), err) < 0 ||
        fd_write_all(fd, script->body, script->length, err) < 0)
        return error_prefix(err, "cannot rewrite %s", name);
    if (fchmod(fd, script->mode) < 0 || renameat(bin, next, bin, name) < 0)
        return error_set_errno(err, errno, "cannot rewrite %s", name);
    return 0;
}

/* Moves the program NAME in SOURCE to BIN, which may be the same. A sandbox without an own root
 * sets no modes: the installer could not make it a program. */
static int move_script(int source, int bin, const char *name, const char *from, const char *to,
                       struct error *err)
{
    mode_t mode;
    size_t length;
    AUTO_FREE char *text = venv_scripts_read_script(source, name, &mode, &length);
    const char *body = text ? venv_scripts_find_body(text, from) : NULL;
    AUTO_FREE char *head = NULL;
    struct venv_script script;

    if (!body)
        return 0;
    head = first_lines(to);
    script = (struct venv_script){
        .head = head,
        .body = body,
        .length = length - (size_t)(body - text),
        .mode = mode | S_IXUSR,
    };
    return replace_file(bin, name, &script, err);
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
        if (entry->d_name[0] != '.' &&
            move_script(dirfd(stream), dirfd(stream), entry->d_name, from, to, err) < 0)
            return -1;
    return 0;
}

/* An installer may write any name of the interpreter. */
static int venv_scripts_adopt_one(int source, int bin, const char *name, char *const *interpreters,
                                  const char *to, struct error *err)
{
    if (name[0] == '.' || faccessat(bin, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        return 0;
    for (; *interpreters; interpreters++)
        if (move_script(source, bin, name, *interpreters, to, err) < 0)
            return -1;
    return 0;
}

int venv_scripts_adopt(const char *source, const char *bin, const char *version, const char *to,
                       struct error *err)
{
    AUTO(venv_scripts_close_stream) DIR *stream = opendir(source);
    AUTO(venv_scripts_close_stream) DIR *target = opendir(bin);
    AUTO_FREE char *plain = memory_format("%s/python", source);
    AUTO_FREE char *major = memory_format("%s/python3", source);
    AUTO_FREE char *minor = memory_format("%s/python%s", source, version);
    char *const interpreters[] = {plain, major, minor, NULL};
    const struct dirent *entry;

    if (!target)
        return error_set_errno(err, errno, "cannot read %s", bin);
    while (stream && (entry = readdir(stream)))
        if (venv_scripts_adopt_one(dirfd(stream), dirfd(target), entry->d_name, interpreters, to,
                                   err) < 0)
            return -1;
    return 0;
}
