/* The script of a tree: a file in memory, mounted over script.py in the tree's own mount namespace,
 * without another path. No other process can open or change it, and the kernel lets no process of
 * the tree rename or remove a covered file.
 *
 * A mount can be copied only from a place in the namespace, so the file system is mounted for a
 * moment. That costs a grace period of the kernel, and is done before the program is known. */
#include "environments/process/runner/script.h"

#include "environments/process/runner/message.h"
#include "environments/process/runner/program.h"
#include "environments/process/runner/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOMENTARY_PLACE "/proc" /* exists everywhere, and nothing reads it meanwhile */
#define MOMENTARY_FILE  MOMENTARY_PLACE "/script.py"

enum { COPY_BYTES = 1 << 20 };

/* Makes the empty file, and a read-only mount of it. */
static bool script_make(struct runner_preparation *preparation)
{
    struct mount_attr attributes = {.attr_set = MOUNT_ATTR_RDONLY};

    preparation->script_file =
        open(MOMENTARY_FILE, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (preparation->script_file < 0)
        return false;
    preparation->script_mount =
        open_tree(AT_FDCWD, MOMENTARY_FILE, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    return preparation->script_mount >= 0 &&
           mount_setattr(preparation->script_mount, "", AT_EMPTY_PATH, &attributes,
                         sizeof attributes) == 0;
}

/* Whether the file can be laid over another file later on: tries move_mount(2) without a mount. */
static bool script_can_move(void)
{
    return move_mount(-1, "", -1, "", MOVE_MOUNT_F_EMPTY_PATH) == 0 || errno == EBADF ||
           errno == ENOENT || errno == EINVAL;
}

void script_prepare(struct runner_preparation *preparation)
{
    if (mount("script", MOMENTARY_PLACE, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700") <
            0 ||
        !script_can_move() || !script_make(preparation) || umount2(MOMENTARY_PLACE, MNT_DETACH) < 0)
        runner_refuse(NEED_NAMESPACES, "cannot make a private script");
}

static int script_fill(int file, int code)
{
    off_t offset = 0;
    ssize_t count;

    do {
        count = sendfile(file, code, &offset, COPY_BYTES);
    } while (count > 0);
    return count < 0 ? -1 : 0;
}

/* True when PATH leads to the file of this tree. */
static bool script_is_at(int file, const char *path)
{
    struct stat ours;
    struct stat there;

    return fstat(file, &ours) == 0 && lstat(path, &there) == 0 && ours.st_dev == there.st_dev &&
           ours.st_ino == there.st_ino;
}

int script_lay_over(const struct runner_preparation *preparation, const struct program *program)
{
    errno = EPERM; /* elsewhere all processes would see it */
    if (!(preparation->layers & LAYER_PID_NAMESPACE) ||
        (program->code >= 0 && script_fill(preparation->script_file, program->code) < 0) ||
        move_mount(preparation->script_mount, "", AT_FDCWD, program->script,
                   MOVE_MOUNT_F_EMPTY_PATH) < 0)
        return -1;
    errno = ESTALE; /* somebody has moved the directory meanwhile */
    return script_is_at(preparation->script_file, program->script) ? 0 : -1;
}

int script_complete(const struct runner_preparation *preparation, const struct program *program,
                    int code)
{
    errno = ESTALE;
    if (!script_is_at(preparation->script_file, program->script))
        return -1;
    return script_fill(preparation->script_file, code);
}
