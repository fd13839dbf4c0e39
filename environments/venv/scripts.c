#include "environments/venv/scripts.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/memory.h"
#include "base/untrusted.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
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

/* An installer may write any name of the interpreter. */
static int venv_scripts_take(const struct venv_scripts *scripts, const char *name,
                             struct error *err)
{
    const int source = dirfd(scripts->source);
    const int bin = scripts->target ? dirfd(scripts->target) : source;

    if (name[0] == '.' || (scripts->target && faccessat(bin, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0))
        return 0;
    for (char *const *from = scripts->interpreters; *from; from++)
        if (move_script(source, bin, name, *from, scripts->to, err) < 0)
            return -1;
    return 0;
}

enum outcome venv_scripts_step(const struct venv_scripts *scripts, unsigned count,
                               struct error *err)
{
    while (count-- > 0) {
        const struct dirent *entry = scripts->source ? readdir(scripts->source) : NULL;

        if (!entry)
            return OUTCOME_READY;
        if (venv_scripts_take(scripts, entry->d_name, err) < 0)
            return OUTCOME_FAILED;
    }
    return OUTCOME_PENDING;
}

void venv_scripts_end(struct venv_scripts *scripts)
{
    if (scripts->source)
        closedir(scripts->source);
    if (scripts->target)
        closedir(scripts->target);
    for (char **name = scripts->interpreters; *name; name++)
        free(*name);
    free(scripts->to);
    *scripts = (struct venv_scripts){0};
}

int venv_scripts_move(struct venv_scripts *ret, const char *bin, const char *from, const char *to,
                      struct error *err)
{
    DIR *source = opendir(bin);

    if (!source)
        return error_set_errno(err, errno, "cannot read %s", bin);
    *ret = (struct venv_scripts){
        .source = source,
        .interpreters = {memory_copy_string(from)},
        .to = memory_copy_string(to),
    };
    return 0;
}

int venv_scripts_adopt(struct venv_scripts *ret, const char *source, const char *bin,
                       const char *version, const char *to, struct error *err)
{
    DIR *target = opendir(bin);

    if (!target)
        return error_set_errno(err, errno, "cannot read %s", bin);
    *ret = (struct venv_scripts){
        .source = opendir(source),
        .target = target,
        .interpreters = {memory_format("%s/python", source), memory_format("%s/python3", source),
                         memory_format("%s/python%s", source, version)},
        .to = memory_copy_string(to),
    };
    return 0;
}
