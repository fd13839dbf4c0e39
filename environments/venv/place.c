#include "environments/venv/place.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/memory.h"
#include "environments/real_path.h"
#include "environments/venv/definition.h"
#include "environments/venv/record.h"
#include "environments/workplace/working_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SCRATCH_TRIES = 10 }; /* the last holder may remove it just when we open it */

/* This is the venv of a session: no packages come into it after it was made. */
static bool venv_place_is_annexed(const char *path, const char *state)
{
    AUTO_FREE char *annexes = state ? memory_format("%s/" ANNEXES_NAME, state) : NULL;

    return annexes && real_path_is_in(path, annexes);
}

void venv_place_find(struct venv_place *ret, const struct venv_definition *definition,
                     const struct venv_packages *packages, const char *state)
{
    char *key = venv_definition_key(definition, packages);
    char *own = venv_definition_path(definition);
    char *path = own ? own : memory_format("%s/venvs/%s", state, key);
    const bool is_ours = !own || venv_place_is_annexed(own, state);

    *ret = (struct venv_place){
        .key = key,
        .path = path,
        .python = memory_format("%s/bin/python", path),
        .kept = !is_ours && state ? venv_record_place(state, path) : NULL,
        .is_ours = is_ours,
    };
}

void venv_place_deinit(struct venv_place *place)
{
    free(place->key);
    free(place->path);
    free(place->python);
    free(place->kept);
    free(place->aside);
    *place = (struct venv_place){0};
}

static void venv_place_close_stream(DIR **stream)
{
    if (*stream)
        closedir(*stream);
}

static bool venv_place_is_empty(DIR *stream)
{
    const struct dirent *entry;

    while ((entry = readdir(stream)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            return false;
    return true;
}

/* The operator's path must be empty: nothing there is overwritten. */
static int venv_place_check(const struct venv_place *place, struct error *err)
{
    AUTO(venv_place_close_stream) DIR *stream = opendir(place->path);
    struct stat status;

    if (!stream && errno == ENOENT)
        return 0;
    if (!stream)
        return error_set_errno(err, errno, "venv_path: %s", place->path);
    if (venv_place_is_empty(stream))
        return 0;
    if (lstat(place->python, &status) == 0)
        return error_set(err, ERROR_UNAVAILABLE,
                         "%s cannot be executed; if the Python that it leads to is gone, remove %s "
                         "to have it made anew",
                         place->python, place->path);
    return error_set(err, ERROR_UNAVAILABLE,
                     "venv_path: %s is not empty and holds no virtual environment (no bin/python); "
                     "nothing was changed in it",
                     place->path);
}

int venv_place_prepare(struct venv_place *place, const char *state_name, struct error *err)
{
    const char *name = strrchr(place->path, '/') + 1;
    AUTO_FREE char *parent = strndup(place->path, (size_t)(name - place->path));

    if (place->is_ours)
        return 0;
    if (venv_place_check(place, err) < 0 || fd_make_directories(parent, 0755, err) < 0)
        return -1;
    free(place->aside);
    place->aside = memory_format("%s.%s.pyexecd-%.8s", parent, name, state_name);
    return 0;
}

static bool venv_scratch_is_still_there(int fd, const char *path)
{
    struct stat ours;
    struct stat there;

    return fstat(fd, &ours) == 0 && lstat(path, &there) == 0 && ours.st_dev == there.st_dev &&
           ours.st_ino == there.st_ino;
}

enum outcome venv_scratch_lock(struct venv_scratch *scratch, const char *path, struct error *err)
{
    for (int i = 0; i < SCRATCH_TRIES; i++) {
        AUTO_CLOSE int fd = -1;

        if (mkdir(path, S_IRWXU) < 0 && errno != EEXIST)
            return (enum outcome)error_set_errno(err, errno, "cannot make the directory %s", path);
        fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 && errno == ENOENT)
            continue;
        if (fd < 0)
            return (enum outcome)error_set_errno(err, errno, "cannot open %s", path);
        if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
            return OUTCOME_PENDING; /* any other error: a file system where nobody else is */
        if (!venv_scratch_is_still_there(fd, path))
            continue;
        *scratch = (struct venv_scratch){memory_copy_string(path), STEAL_FD(fd)};
        return OUTCOME_READY;
    }
    return OUTCOME_PENDING;
}

void venv_scratch_unlock(struct venv_scratch *scratch)
{
    if (!scratch->path)
        return;
    close(scratch->fd);
    scratch->fd = -1;
    free(scratch->path);
    scratch->path = NULL;
}
