/* The root of a sandbox: a file system in memory with the files that programs need and the paths
 * that a policy names, each at its own place.
 *
 * The common part of all programs is made ahead of time. The machine's root is kept at a place in
 * the new one until the program's own paths have been taken from there; then it is covered, since
 * unmounting it would cost a grace period of the kernel. No program has the right to lift the
 * cover. */
#include "environments/process/runner/root.h"

#include "base/cleanup.h"
#include "environments/process/runner/identity.h"
#include "environments/process/runner/message.h"
#include "environments/process/runner/plain_path.h"
#include "environments/process/runner/proc.h"
#include "environments/process/runner/program.h"
#include "environments/process/runner/reserve.h"
#include "environments/process/runner/root_limits.h"
#include "environments/process/runner/root_place.h"
#include "environments/process/runner/root_table.h"
#include "environments/process/runner/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MACHINE "/sys" /* policies name it for devices only, and programs do not miss it */

enum { PATH_BYTES = 4096, DIRECTORY_MODE = 0755 };

static int root_fail(const char **ret_subject, const char *subject)
{
    *ret_subject = subject;
    return -1;
}

/* Mounts */

/* How a path is shown. */
struct root_view {
    uint64_t attributes; /* of its mount: MOUNT_ATTR_... */
    int owners;          /* the map of its owners; -1: no map is needed */
    bool is_named;       /* by the policy: root must be able to use it */
};

static struct root_view root_view_of(const struct runner_preparation *preparation,
                                     uint64_t attributes)
{
    return (struct root_view){
        .attributes = MOUNT_ATTR_NOSUID | attributes,
        .owners = preparation->layers & LAYER_UID ? preparation->owners : -1,
    };
}

static int root_set_mount(int tree, const struct mount_attr *set)
{
    return mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, (struct mount_attr *)set,
                         sizeof *set);
}

/* Some file systems cannot map owners. Programs of the system can be read by others, too. */
static int root_set_view(int tree, const struct root_view *view)
{
    const struct mount_attr set = {.attr_set = view->attributes};
    const struct mount_attr mapped = {.attr_set = view->attributes | MOUNT_ATTR_IDMAP,
                                      .userns_fd = (uint64_t)view->owners};

    if (view->owners < 0)
        return root_set_mount(tree, &set);
    if (root_set_mount(tree, &mapped) == 0)
        return 0;
    if (!view->is_named)
        return root_set_mount(tree, &set);
    message_send_refusal(NEED_UID, "a uid of its own: cannot map owners of files");
    return -1;
}

/* A copy of the mounts at and below PLACE that has no place yet. */
static int root_copy_mount(int place, const struct root_view *view)
{
    int tree =
        open_tree(place, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE);

    if (tree >= 0 && root_set_view(tree, view) < 0) {
        close(tree);
        return -1;
    }
    return tree;
}

/* Makes a link at PATH that is like ORIGINAL, a descriptor of a link. */
static int root_copy_link(int original, const char *path)
{
    char target[PATH_BYTES];
    ssize_t length = readlinkat(original, "", target, sizeof target - 1);

    if (length < 0)
        return -1;
    target[length] = '\0';
    return root_made(symlink(target, path));
}

/* Shows the mounts at and below ORIGINAL at PATH, and makes the place for them. */
static int root_mount(int original, bool is_directory, const char *path,
                      const struct root_view *view)
{
    int tree = root_copy_mount(original, view);
    int ret;

    if (tree < 0)
        return -1;
    ret = root_make_place(path, is_directory);
    if (ret == 0)
        ret = root_attach(tree, path);
    close(tree);
    return ret;
}

/* Shows ORIGINAL, a descriptor of any file, at PATH, too. */
static int root_place(int original, const char *path, const struct root_view *view)
{
    struct stat status;

    if (fstat(original, &status) < 0 || root_make_way(path) < 0)
        return -1;
    if (S_ISLNK(status.st_mode))
        return root_copy_link(original, path);
    return root_mount(original, S_ISDIR(status.st_mode), path, view);
}

/* The same where the place is that file itself, which may be gone by now. A link cannot be laid
 * over it. */
static int root_lay_over(int original, const char *path, const struct root_view *view)
{
    struct stat status;
    int tree;
    int ret;

    if (fstat(original, &status) < 0)
        return -1;
    if (S_ISLNK(status.st_mode))
        return 0;
    tree = root_copy_mount(original, view);
    if (tree < 0)
        return -1;
    ret = root_attach(tree, path);
    close(tree);
    return ret;
}

/* An empty directory without a place. */
static int root_new_cover(void)
{
    int context = fsopen("tmpfs", FSOPEN_CLOEXEC);
    int cover = -1;

    if (context < 0)
        return -1;
    if (fsconfig(context, FSCONFIG_SET_STRING, "size", "64k", 0) == 0 &&
        fsconfig(context, FSCONFIG_SET_STRING, "mode", "0755", 0) == 0 &&
        fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
        cover = fsmount(context, FSMOUNT_CLOEXEC,
                        MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
    close(context);
    return cover;
}

/* The common part */

/* Shows PATH of the machine, which may be missing, as VIEW has it. FLAGS: O_NOFOLLOW, or 0. */
static int root_take(const char *path, int flags, const struct root_view *view)
{
    char place[PATH_BYTES];
    int fd = open(path, O_PATH | O_CLOEXEC | flags);
    int ret;

    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR || errno == EACCES ? 0 : -1;
    snprintf(place, sizeof place, "%s%s", ROOT_PLACE, path);
    ret = root_place(fd, place, view);
    close(fd);
    return ret;
}

static int root_take_entry(const struct runner_preparation *preparation,
                           const struct root_entry *entry)
{
    const struct root_view view = root_view_of(preparation, entry->attributes);

    return root_take(entry->path, entry->is_followed ? 0 : O_NOFOLLOW, &view);
}

/* Writes the names of the program's user, and of no other user of the machine. */
static int root_write_users(void)
{
    const char *name = geteuid() == 0 ? "root" : "user";
    char text[256];

    snprintf(text, sizeof text, "%s:x:%u:%u::/tmp:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n",
             name, geteuid(), getegid());
    if (root_write(ROOT_PLACE "/etc/passwd", text) < 0)
        return -1;
    snprintf(text, sizeof text, "%s:x:%u:\nnogroup:x:65534:\n", name, getegid());
    return root_write(ROOT_PLACE "/etc/group", text) < 0 ||
                   root_write(ROOT_PLACE "/etc/hosts",
                              "127.0.0.1 localhost sandbox\n::1 localhost\n") < 0 ||
                   root_write(ROOT_PLACE "/etc/hostname", "sandbox\n") < 0
               ? -1
               : 0;
}

static int root_make_links(void)
{
    int ret = 0;

    for (size_t i = 0; ret == 0 && i < root_link_count; i++)
        ret = symlink(root_links[i].target, root_links[i].place);
    return ret;
}

static int root_mount_own(void)
{
    int ret = 0;

    for (size_t i = 0; ret == 0 && i < root_own_count; i++)
        ret = mount(root_own[i].type, root_own[i].place, root_own[i].type, root_own[i].flags,
                    root_own[i].options);
    return ret;
}

static int root_make_directories(void)
{
    int ret = 0;

    for (size_t i = 0; ret == 0 && i < root_directory_count; i++)
        ret = mkdir(root_directories[i], DIRECTORY_MODE);
    return ret;
}

static int root_take_entries(const struct runner_preparation *preparation)
{
    int ret = 0;

    for (size_t i = 0; ret == 0 && i < root_entry_count; i++)
        ret = root_take_entry(preparation, &root_entries[i]);
    return ret;
}

static int root_take_settings(void)
{
    static const struct root_view view = {
        .attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC,
        .owners = -1,
    };
    int ret = 0;

    for (size_t i = 0; ret == 0 && i < root_setting_count; i++)
        ret = root_take(root_settings[i], O_NOFOLLOW, &view);
    return ret;
}

static int root_fill(const struct runner_preparation *preparation)
{
    return root_make_directories() < 0 || root_take_entries(preparation) < 0 ||
                   root_take_settings() < 0 || root_write_users() < 0 || root_mount_own() < 0
               ? -1
               : root_make_links();
}

/* The supervisors of workers write the maps of their user namespaces there (worker.c). */
static bool root_needs_proc(const struct runner_preparation *preparation)
{
    return preparation->layers & LAYER_NURSERY;
}

static int root_enter(const struct runner_preparation *preparation)
{
    struct mount_attr read_only = {.attr_set = MOUNT_ATTR_RDONLY};

    return (!root_needs_proc(preparation) &&
            mount_setattr(AT_FDCWD, ROOT_PLACE "/proc", 0, &read_only, sizeof read_only) < 0) ||
                   mkdir(ROOT_PLACE MACHINE, 0) < 0 ||
                   syscall(SYS_pivot_root, ROOT_PLACE, ROOT_PLACE MACHINE) < 0
               ? -1
               : chdir("/");
}

int root_prepare(struct runner_preparation *preparation)
{
    mode_t before = umask(0);
    int ret;

    ret = mount("sandbox", ROOT_PLACE, "tmpfs", MS_NOSUID | MS_NODEV,
                "mode=0755,size=1m,nr_inodes=4096") < 0 ||
                  root_fill(preparation) < 0 || root_enter(preparation) < 0
              ? -1
              : 0;

    umask(before);
    preparation->cover = ret < 0 ? -1 : root_new_cover();
    return preparation->cover < 0 ? -1 : 0;
}

/* The paths of a policy */

/* Opens PATH of the MACHINE. Scripts could have put a link in the place of a writable directory, or
 * of a directory above a readable path. */
static int root_find(int machine, const char *path, bool is_written)
{
    return plain_path_open(machine, path, is_written ? 0 : O_NOFOLLOW);
}

static bool root_is_in_kernel(const char *path)
{
    return strncmp(path + 1, MACHINE "/", strlen(MACHINE "/")) == 0;
}

static uint64_t root_attributes(const char *path)
{
    switch (path[0]) {
    case CONTROL_WRITE:
        return MOUNT_ATTR_NODEV;
    case CONTROL_DEVICE: /* the device can be written, its file cannot */
        return MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC;
    default:
        return MOUNT_ATTR_NODEV | MOUNT_ATTR_RDONLY;
    }
}

/* Files of devices and of the kernel are used with the rights of others than root, because the
 * kernel maps no owners there. */
static struct root_view root_view_of_path(const struct runner_preparation *preparation,
                                          const char *path)
{
    struct root_view view = root_view_of(preparation, root_attributes(path));

    view.is_named = path[0] != CONTROL_DEVICE && !root_is_in_kernel(path);
    return view;
}

/* A path inside another comes after it, so that neither hides the other. If a path is to be read
 * and to be written, the writable mount comes last, on top. */
static int root_compare(const void *one, const void *other)
{
    const char *const paths[] = {*(char *const *)one, *(char *const *)other};
    const size_t lengths[] = {strlen(paths[0]), strlen(paths[1])};

    if (lengths[0] != lengths[1])
        return lengths[0] < lengths[1] ? -1 : 1;
    return paths[0][0] - paths[1][0];
}

void root_sort(char **paths)
{
    size_t count = 0;

    while (paths[count])
        count++;
    qsort(paths, count, sizeof *paths, root_compare);
}

/* Opens all PATHS of the machine; if it fails, *RET_SUBJECT is the path. Owned by the caller. */
static int *root_find_all(char *const *paths, const char **ret_subject)
{
    size_t count = 0;
    AUTO_CLOSE int machine = open(MACHINE, O_PATH | O_DIRECTORY | O_CLOEXEC);
    AUTO_FREE int *originals = NULL;

    while (paths[count])
        count++;
    originals = calloc(count + 1, sizeof *originals);
    *ret_subject = MACHINE;
    if (machine < 0 || !originals)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        *ret_subject = paths[i] + 1;
        originals[i] = root_find(machine, paths[i] + 1, paths[i][0] == CONTROL_WRITE);
        if (originals[i] < 0)
            return NULL;
    }
    return STEAL_PTR(originals);
}

static int root_resize(const char *place, unsigned long flags, uint64_t bytes)
{
    char options[64];

    snprintf(options, sizeof options, "size=%llu", (unsigned long long)bytes);
    return mount(NULL, place, NULL, MS_REMOUNT | MS_NOSUID | MS_NODEV | flags, options);
}

/* Hides the machine's root. */
static int root_cover(const struct runner_preparation *preparation)
{
    return move_mount(preparation->cover, "", AT_FDCWD, MACHINE, MOVE_MOUNT_F_EMPTY_PATH);
}

/* Makes the root and the cover read-only, so that nothing can be made beside the paths shown. */
static int root_close(void)
{
    struct mount_attr read_only = {.attr_set = MOUNT_ATTR_RDONLY};

    return mount_setattr(AT_FDCWD, "/", 0, &read_only, sizeof read_only) < 0
               ? -1
               : mount_setattr(AT_FDCWD, MACHINE, 0, &read_only, sizeof read_only);
}

/* True if a zygote has the path NUMBER in its reserve, where it is not shown. */
static bool root_is_kept(const struct program *program, size_t number)
{
    return program->run.is_zygote && reserve_holds(program->paths, program->paths[number] + 1);
}

static int root_keep_path(const struct runner_preparation *preparation,
                          const struct program *program, size_t number, int original)
{
    const struct root_view view = root_view_of_path(preparation, program->paths[number]);
    int tree = root_copy_mount(original, &view);
    int ret = tree < 0 ? -1 : reserve_keep(number, tree, program);

    if (tree >= 0)
        close(tree);
    return ret;
}

/* Puts paths into the reserve, which lies over the machine's root and is covered with it. */
static int root_keep_all(const struct runner_preparation *preparation,
                         const struct program *program, const int *originals,
                         const char **ret_subject)
{
    if (!program->run.is_zygote)
        return 0;
    if (reserve_open(MACHINE) < 0)
        return root_fail(ret_subject, MACHINE);
    for (size_t i = 0; program->paths[i]; i++)
        if (root_is_kept(program, i) && root_keep_path(preparation, program, i, originals[i]) < 0)
            return root_fail(ret_subject, program->paths[i] + 1);
    return 0;
}

/* Shows ORIGINAL at the path NUMBER of PROGRAM, or an empty stand-in. */
static int root_show_path(const struct runner_preparation *preparation,
                          const struct program *program, size_t number, int original)
{
    const char *path = program->paths[number];
    const struct root_view view = root_view_of_path(preparation, path);

    if (root_is_kept(program, number))
        return reserve_stand_in(number, program);
    return reserve_surrounds(program->paths, path + 1) ? root_lay_over(original, path + 1, &view)
                                                       : root_place(original, path + 1, &view);
}

static int root_show_all(const struct runner_preparation *preparation,
                         const struct program *program, const int *originals,
                         const char **ret_subject)
{
    if (root_cover(preparation) < 0)
        return root_fail(ret_subject, MACHINE);
    for (size_t i = 0; program->paths[i]; i++) {
        if (root_show_path(preparation, program, i, originals[i]) < 0)
            return root_fail(ret_subject, program->paths[i] + 1);
        close(originals[i]);
    }
    return 0;
}

/* The machine is covered before any path is shown: on the way to a place there can be links that
 * programs have made. */
static int root_show_paths(const struct runner_preparation *preparation,
                           const struct program *program, const char **ret_subject)
{
    AUTO_FREE int *originals = NULL;

    root_sort(program->paths);
    originals = root_find_all(program->paths, ret_subject);
    if (!originals)
        return -1;
    identity_make_files(preparation, true);
    if (root_keep_all(preparation, program, originals, ret_subject) < 0 ||
        root_show_all(preparation, program, originals, ret_subject) < 0)
        return -1;
    identity_make_files(preparation, false);
    return 0;
}

int root_show(const struct runner_preparation *preparation, const struct program *program,
              const char **ret_subject)
{
    mode_t before = umask(0);

    if (root_resize("/tmp", 0, program->run.shared_bytes) < 0)
        return root_fail(ret_subject, "/tmp");
    if (root_resize("/dev/shm", MS_NOEXEC, program->run.shared_bytes) < 0)
        return root_fail(ret_subject, "/dev/shm");
    if (root_show_paths(preparation, program, ret_subject) < 0)
        return -1;
    if (root_limits_write(&program->run) < 0)
        return root_fail(ret_subject, "the limits");
    umask(before);
    if (root_close() < 0)
        return root_fail(ret_subject, "the root");
    if (!program->run.is_zygote && root_limits_lay_over() < 0)
        return root_fail(ret_subject, "/proc/meminfo");
    if (!program->run.is_zygote && proc_is_written(preparation->layers, program) &&
        proc_open_processes() < 0)
        return root_fail(ret_subject, "files of processes");
    return 0;
}
