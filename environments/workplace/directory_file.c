#include "environments/workplace/directory_file.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/untrusted.h"
#include "environments/workplace/workplace_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    NAME_DIGITS = 16,
    PARTS_MOST = 64,
    SHOWN_BYTES = 200, /* of a path, in messages */
    FILE_MODE = 0666,  /* less the umask; or by the default access list of the directory */
    FOLDER_MODE = 0777,
};

/* Paths */

static bool directory_file_leads_out(const char *part, size_t length)
{
    return length == 2 && part[0] == '.' && part[1] == '.';
}

static bool directory_file_means_nothing(const char *part, size_t length)
{
    return length == 0 || (length == 1 && part[0] == '.');
}

char *directory_file_path(const char *path, struct error *err)
{
    AUTO_FREE char *clean = memory_new(strlen(path) + 1, 1);
    char *end = clean;
    unsigned parts = 0;

    for (const char *part = path; *part && parts <= PARTS_MOST;) {
        size_t length = strcspn(part, "/");

        if (*path == '/' || directory_file_leads_out(part, length)) {
            error_set(err, ERROR_INVALID_ARGUMENTS,
                      "%.*s leads out of the working directory; give a path inside it, such as "
                      "data/a.csv",
                      SHOWN_BYTES, path);
            return NULL;
        }
        if (!directory_file_means_nothing(part, length)) {
            if (parts++ > 0)
                *end++ = '/';
            end = mempcpy(end, part, length);
        }
        part += length + strspn(part + length, "/");
    }
    if (parts > 0 && parts <= PARTS_MOST && path[strlen(path) - 1] != '/')
        return STEAL_PTR(clean);
    error_set(err, ERROR_INVALID_ARGUMENTS, "\"%.*s\" is not the path of a file", SHOWN_BYTES,
              path);
    return NULL;
}

/* Reading */

int directory_file_open(const struct working_directory *directory, const char *path,
                        struct error *err)
{
    return untrusted_open(directory->fd, path, O_RDONLY, err);
}

/* Writing */

/* Opens the folder NAME in PARENT, and makes it first if the name is free. */
static int directory_file_enter(int parent, const char *name, struct error *err)
{
    if (mkdirat(parent, name, FOLDER_MODE) < 0 && errno != EEXIST)
        return error_set_errno(err, errno, "cannot make the folder %s", name);
    return untrusted_open_directory(parent, name, err);
}

int directory_file_parent(int directory, const char *path, const char **ret_name, struct error *err)
{
    AUTO_CLOSE int parent = fcntl(directory, F_DUPFD_CLOEXEC, 0);
    const char *slash;

    if (parent < 0)
        return error_set_errno(err, errno, "cannot open it");
    for (; (slash = strchr(path, '/')); path = slash + 1) {
        AUTO_FREE char *name = memory_format("%.*s", (int)(slash - path), path);
        int next = directory_file_enter(parent, name, err);

        if (next < 0)
            return -1;
        close(parent);
        parent = next;
    }
    *ret_name = path;
    return STEAL_FD(parent);
}

/* Without a name, nothing of it stays when this program is killed. Not every file system has such
 * files. */
static int directory_file_open_new(struct arriving_file *file)
{
    const int flags = O_WRONLY | O_CLOEXEC;
    AUTO_FREE char *digits = random_digits(NAME_DIGITS);

    file->fd = openat(file->parent, ".", flags | O_TMPFILE, FILE_MODE);
    file->is_nameless = file->fd >= 0;
    file->aside = memory_format(".put-%s", digits);
    if (file->fd < 0)
        file->fd =
            openat(file->parent, file->aside, flags | O_CREAT | O_EXCL | O_NOFOLLOW, FILE_MODE);
    return file->fd;
}

int directory_file_begin(struct arriving_file *file, int parent, const char *name,
                         struct error *err)
{
    *file = (struct arriving_file){.parent = fcntl(parent, F_DUPFD_CLOEXEC, 0), .fd = -1};
    if (file->parent < 0)
        return error_set_errno(err, errno, "cannot open its folder");
    if (directory_file_open_new(file) < 0) {
        error_set_errno(err, errno, "cannot make a file");
        close(STEAL_FD(file->parent));
        free(STEAL_PTR(file->aside));
        return -1;
    }
    file->name = memory_copy_string(name);
    return 0;
}

static void directory_file_close(struct arriving_file *file)
{
    close(STEAL_FD(file->fd));
    close(STEAL_FD(file->parent));
    free(STEAL_PTR(file->aside));
    free(STEAL_PTR(file->name));
}

void directory_file_abandon(struct arriving_file *file)
{
    if (file->fd < 0)
        return;
    if (!file->is_nameless)
        (void)unlinkat(file->parent, file->aside, 0);
    directory_file_close(file);
}

/* A link replaces no name. */
static int directory_file_name(struct arriving_file *file)
{
    AUTO_FREE char *nameless = memory_format("/proc/self/fd/%d", file->fd);

    if (linkat(AT_FDCWD, nameless, file->parent, file->aside, AT_SYMLINK_FOLLOW) < 0)
        return -1;
    file->is_nameless = false;
    return 0;
}

/* A rename replaces the name, so that no data goes to the target of a link or another name of the
 * file. */
int directory_file_finish(struct arriving_file *file, struct error *err)
{
    if ((file->is_nameless && directory_file_name(file) < 0) ||
        renameat(file->parent, file->aside, file->parent, file->name) < 0) {
        error_set_errno(err, errno, "cannot give it its name");
        directory_file_abandon(file);
        return -1;
    }
    directory_file_close(file);
    return 0;
}

int directory_file_put(const struct working_directory *directory, const char *path,
                       const char *data, size_t length, struct error *err)
{
    struct arriving_file file;
    const char *name = NULL;
    AUTO_CLOSE int parent = directory_file_parent(directory->fd, path, &name, err);

    if (parent >= 0 && directory_file_begin(&file, parent, name, err) == 0) {
        if (fd_write_all(file.fd, data, length, err) == 0 && directory_file_finish(&file, err) == 0)
            return 0;
        directory_file_abandon(&file);
    }
    return error_prefix(err, "cannot put the file %.*s into the working directory", SHOWN_BYTES,
                        path);
}
