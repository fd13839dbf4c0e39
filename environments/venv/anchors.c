#include "environments/venv/anchors.h"

#include "base/cleanup.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/untrusted.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define INFORMATION ".dist-info"

enum { RECORD_MOST_BYTES = 4 * 1024 * 1024 };

static const char *const venv_anchor_names[VENV_ANCHORS] = {
    "bin/python", "bin/python3", "bin/python._pth", "bin/python3._pth", "pyvenv.cfg"};

static struct venv_anchor venv_anchor_look(const char *venv, const char *name)
{
    AUTO_FREE char *path = memory_format("%s/%s", venv, name);
    struct venv_anchor anchor = {0};
    struct stat status;

    if (lstat(path, &status) < 0)
        return anchor;
    anchor.inode = status.st_ino;
    anchor.changed = status.st_ctim;
    file_identity_read(&anchor.target, path);
    return anchor;
}

static bool venv_anchor_is_same(const struct venv_anchor *one, const struct venv_anchor *other)
{
    return one->inode == other->inode && one->changed.tv_sec == other->changed.tv_sec &&
           one->changed.tv_nsec == other->changed.tv_nsec;
}

static bool venv_anchor_leads_alike(const struct venv_anchor *one, const struct venv_anchor *other)
{
    const struct file_identity *target = &one->target;

    return target->device == other->target.device && target->inode == other->target.inode &&
           target->size == other->target.size &&
           target->modified.tv_sec == other->target.modified.tv_sec &&
           target->modified.tv_nsec == other->target.modified.tv_nsec;
}

static void venv_anchors_look(struct venv_anchor *ret, const char *venv)
{
    for (size_t i = 0; i < VENV_ANCHORS; i++)
        ret[i] = venv_anchor_look(venv, venv_anchor_names[i]);
}

void venv_anchors_read(struct venv_anchors *ret, const char *venv, const char *packages)
{
    venv_anchors_deinit(ret);
    ret->venv = memory_copy_string(venv);
    ret->packages = memory_copy_string(packages);
    venv_anchors_look(ret->files, venv);
}

void venv_anchors_deinit(struct venv_anchors *anchors)
{
    free(anchors->venv);
    free(anchors->packages);
    *anchors = (struct venv_anchors){0};
}

/* The end of the folder NAME that says it is the information of a package, or NULL. */
static const char *venv_anchors_find_end(const char *name)
{
    const char *end = strstr(name, INFORMATION);

    return end && !end[strlen(INFORMATION)] ? end : NULL;
}

/* True if the package whose information is in FOLDER of PACKAGES says that NAME is its file. */
static bool venv_anchors_are_of(int packages, const char *folder, const char *name)
{
    struct error ignored = ERROR_INIT;
    AUTO_FREE char *path = memory_format("%s/RECORD", folder);
    AUTO_FREE char *line = memory_format("/%s,", name);
    size_t length;
    AUTO_FREE char *record = untrusted_read(packages, path, RECORD_MOST_BYTES, &length, &ignored);

    return record && strstr(record, line);
}

static void venv_anchors_close_stream(DIR **stream)
{
    if (*stream)
        closedir(*stream);
}

/* NULL: it cannot be read. */
static DIR *venv_anchors_open_stream(const char *path)
{
    struct error ignored = ERROR_INIT;
    AUTO_CLOSE int fd = untrusted_open_directory(AT_FDCWD, path, &ignored);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;

    if (stream)
        STEAL_FD(fd);
    return stream;
}

/* "gadget-1.0", which has brought NAME. Owned by the caller; NULL: not known. */
static char *venv_anchors_find_package(const char *packages, const char *name)
{
    AUTO(venv_anchors_close_stream) DIR *stream = venv_anchors_open_stream(packages);
    const struct dirent *entry;

    while (stream && (entry = readdir(stream))) {
        const char *end = venv_anchors_find_end(entry->d_name);

        if (end && venv_anchors_are_of(dirfd(stream), entry->d_name, name))
            return strndup(entry->d_name, (size_t)(end - entry->d_name));
    }
    return NULL;
}

static int venv_anchors_fail(const struct venv_anchors *anchors, const char *name,
                             struct error *err)
{
    AUTO_FREE char *path = memory_format("%s/%s", anchors->venv, anchors->packages);
    AUTO_FREE char *package = venv_anchors_find_package(path, name);

    return error_set(err, ERROR_UNAVAILABLE,
                     "%s%s brings a %s of its own, which is what makes a virtual environment",
                     package ? "the package " : "a package", package ? package : "", name);
}

/* The name of an anchor that differs, or NULL. An anchor that was replaced itself comes before
 * links that lead to it. */
static const char *venv_anchors_find_other(const struct venv_anchor *one,
                                           const struct venv_anchor *other)
{
    for (size_t i = 0; i < VENV_ANCHORS; i++)
        if (!venv_anchor_is_same(&one[i], &other[i]))
            return venv_anchor_names[i];
    for (size_t i = 0; i < VENV_ANCHORS; i++)
        if (!venv_anchor_leads_alike(&one[i], &other[i]))
            return venv_anchor_names[i];
    return NULL;
}

int venv_anchors_check(const struct venv_anchors *anchors, struct error *err)
{
    struct venv_anchor now[VENV_ANCHORS];
    const char *name;

    venv_anchors_look(now, anchors->venv);
    name = venv_anchors_find_other(anchors->files, now);
    return name ? venv_anchors_fail(anchors, name, err) : 0;
}
