/* Places in the root of a sandbox, for the paths shown there. The paths of a policy have no links
 * on their way when they are checked. Scripts may have made links since, so none is followed. */
#include "environments/process/runner/root_place.h"

#include "environments/process/runner/plain_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PLACE_BYTES = 4096, PLACE_DIRECTORY_MODE = 0755, PLACE_FILE_MODE = 0644 };

int root_made(int ret)
{
    return ret < 0 && (errno == EEXIST || errno == EROFS) ? 0 : ret;
}

int root_make_way(const char *path)
{
    char part[PLACE_BYTES];

    snprintf(part, sizeof part, "%.*s", (int)(strrchr(path, '/') - path), path);
    if (access(part, F_OK) == 0) /* true for most paths, and cheaper than mkdir */
        return 0;
    for (const char *end = path + 1; (end = strchr(end, '/')); end++) {
        snprintf(part, sizeof part, "%.*s", (int)(end - path), path);
        if (root_made(mkdir(part, PLACE_DIRECTORY_MODE)) < 0)
            return -1;
    }
    return 0;
}

int root_make_place(const char *path, bool is_directory)
{
    return root_made(is_directory ? mkdir(path, PLACE_DIRECTORY_MODE)
                                  : mknod(path, S_IFREG | PLACE_FILE_MODE, 0));
}

int root_write(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, PLACE_FILE_MODE);
    int ret;

    if (fd < 0)
        return -1;
    ret = dprintf(fd, "%s", text);
    close(fd);
    return ret;
}

const char *root_find_way(const char *path)
{
    return strncmp(path, "/var/tmp/", strlen("/var/tmp/")) == 0 ? path + strlen("/var") : path;
}

int root_attach(int tree, const char *path)
{
    const int place = plain_path_open(AT_FDCWD, root_find_way(path), 0);
    int ret;

    if (place < 0)
        return -1;
    ret = move_mount(tree, "", place, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
    close(place);
    return ret;
}

int root_put(int tree, const char *path)
{
    struct stat status;

    if (fstat(tree, &status) < 0 || root_make_way(path) < 0 ||
        root_make_place(path, S_ISDIR(status.st_mode)) < 0)
        return -1;
    return root_attach(tree, path);
}
