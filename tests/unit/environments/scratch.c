#include "base/error.h"
#include "base/fd.h"
#include "base/memory.h"
#include "environments/workplace/directory_removal.h"
#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int open_directory(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    assert_true(fd >= 0);
    return fd;
}

char *scratch_new(void)
{
    char *path = memory_copy_string("/tmp/pyexecd-unit-XXXXXX");

    assert_non_null(mkdtemp(path));
    return path;
}

void scratch_free(char *scratch)
{
    struct directory_removal removal;
    int fd;

    assert_int_equal(chmod(scratch, 0700), 0);
    fd = open_directory(scratch);
    directory_removal_init(&removal, fd);
    while (directory_removal_step(&removal, 1000))
        ;
    directory_removal_deinit(&removal);
    close(fd);
    assert_int_equal(rmdir(scratch), 0);
    free(scratch);
}

void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

char *read_text(const char *path)
{
    struct error err = ERROR_INIT;
    size_t length;

    return fd_read_file(path, 1 << 20, &length, &err);
}

int count_entries(const char *path)
{
    DIR *stream = opendir(path);
    int count = -2; /* "." and ".." */

    if (!stream)
        return -1;
    while (readdir(stream))
        count++;
    closedir(stream);
    return count;
}

void shell(const char *path, const char *command)
{
    char *line = memory_format("cd '%s' && { %s\n}", path, command);

    assert_int_equal(system(line), 0);
    free(line);
}
