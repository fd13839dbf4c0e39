#include "environments/workplace/working_directory.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/memory.h"
#include "base/untrusted.h"
#include "environments/workplace/workplace_private.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_SECONDS 0.02 /* writing a script takes far less; the whole server waits */

/* The name of the folder for PLACE: letters, digits and - stand for themselves, anything else
 * becomes _ and two digits. */
static char *working_directory_folder(const struct disk_place *place)
{
    static const char digits[] = "0123456789abcdef";
    AUTO_FREE char *prefix =
        memory_format(PRINCIPAL_PREFIX "%s-", isolation_name(place->isolation));
    size_t used = strlen(prefix);
    char *name = memory_new(used + strlen(place->principal) * 3 + 1, 1);

    memcpy(name, prefix, used);
    for (const char *byte = place->principal; *byte; byte++) {
        if (isalnum((unsigned char)*byte) || *byte == '-') {
            name[used++] = *byte;
        } else {
            name[used++] = '_';
            name[used++] = digits[(unsigned char)*byte >> 4];
            name[used++] = digits[(unsigned char)*byte & 15];
        }
    }
    return name;
}

static struct working_directory *directory_new(struct workplace *workplace)
{
    struct working_directory *directory = NEW(struct working_directory);

    directory->workplace = workplace;
    directory->references = 1;
    directory->fd = -1;
    directory->lock = LOCK_UN;
    list_append(&workplace->directories, &directory->link);
    return directory;
}

void working_directory_free(struct working_directory *directory)
{
    list_remove(&directory->link);
    if (directory->fd >= 0)
        close(directory->fd);
    free(directory->principal);
    free(directory->folder);
    free(directory->handle);
    free(directory->path);
    free(directory->newest_code);
    free(directory->annex);
    free(directory);
}

struct working_directory *working_directory_new_configured(struct workplace *workplace)
{
    struct working_directory *directory = directory_new(workplace);

    directory->handle = memory_copy_string(workplace->path);
    directory->path = memory_copy_string(workplace->path);
    return directory;
}

struct working_directory *working_directory_new_temporary(struct workplace *workplace,
                                                          const struct disk_place *place)
{
    struct working_directory *directory = directory_new(workplace);

    directory->principal = memory_copy_string(place->principal);
    directory->isolation = place->isolation;
    directory->folder = working_directory_folder(place);
    directory->handle = memory_copy_string(place->handle);
    directory->path =
        memory_format("%s/%s/%s", workplace->root, directory->folder, directory->handle);
    return directory;
}

bool working_directory_is_temporary(const struct working_directory *directory)
{
    return directory->folder != NULL;
}

bool working_directory_is_lent(const struct working_directory *directory)
{
    return !working_directory_is_temporary(directory) && directory->workplace->is_lent;
}

/* The principal's folder, or -1 with errno set. */
static int open_folder(const struct working_directory *directory)
{
    return directory_open_forced(directory->workplace->root_fd, directory->folder);
}

/* Whether the principal's folder is there, with all rights for us. */
static bool folder_is_open(const struct working_directory *directory)
{
    struct stat status;

    return fstatat(directory->workplace->root_fd, directory->folder, &status,
                   AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(status.st_mode) && directory_allows_owner(&status);
}

/* The status of the entry at the path of DIRECTORY now; -1 with errno set. */
static int look_at_place(const struct working_directory *directory, struct stat *ret)
{
    const struct workplace *workplace = directory->workplace;
    AUTO_CLOSE int folder = -1;

    if (!working_directory_is_temporary(directory))
        return lstat(directory->path, ret);
    if (folder_is_open(directory))
        return fstatat(workplace->root_fd, directory->path + strlen(workplace->root) + 1, ret,
                       AT_SYMLINK_NOFOLLOW);
    folder = open_folder(directory);
    return folder < 0 ? -1 : fstatat(folder, directory->handle, ret, AT_SYMLINK_NOFOLLOW);
}

/* Also the status of the open directory. */
static bool is_in_place(const struct working_directory *directory, struct stat *ret)
{
    struct stat there;

    return directory->fd >= 0 && look_at_place(directory, &there) == 0 &&
           fstat(directory->fd, ret) == 0 && directory_is_same(&there, ret);
}

/* A script may be able to make a part of the configured path a link. */
static int working_directory_open_configured(const char *path)
{
    struct error err = ERROR_INIT;
    int fd = untrusted_open_directory(AT_FDCWD, path, &err);

    errno = err.number;
    return fd;
}

static int open_place(const struct working_directory *directory)
{
    AUTO_CLOSE int folder = -1;

    if (!working_directory_is_temporary(directory))
        return working_directory_open_configured(directory->path);
    folder = open_folder(directory);
    return folder < 0 ? -1 : directory_open_forced(folder, directory->handle);
}

/* A failed attempt loses the lock that was held (flock(2)). */
int working_directory_lock(struct working_directory *directory, int operation)
{
    if (directory->lock == operation)
        return 0;
    if (flock(directory->fd, operation | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
        directory->lock = LOCK_UN;
        return -1;
    }
    directory->lock = operation;
    return 0;
}

int working_directory_lock_shared(struct working_directory *directory)
{
    double deadline = clock_seconds() + LOCK_SECONDS;

    while (working_directory_lock(directory, LOCK_SH) < 0) {
        if (clock_seconds() >= deadline)
            return -1;
        (void)sched_yield();
    }
    return 0;
}

int working_directory_attach(struct working_directory *directory)
{
    struct stat ours;

    if (directory->fd >= 0)
        close(directory->fd);
    directory->fd = open_place(directory);
    directory->lock = LOCK_UN;
    if (directory->fd < 0)
        return -1;
    if (working_directory_is_temporary(directory) && working_directory_lock_shared(directory) < 0)
        return -1;
    if (is_in_place(directory, &ours))
        return 0;
    errno = ENOENT; /* swept between the two */
    return -1;
}

/* Makes NAME in PARENT unless there is a directory; anything else in its place is removed. Returns
 * 0, or why it could not be made. */
static int working_directory_make_one(int parent, const char *name)
{
    struct stat status;

    if (fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(status.st_mode))
        (void)unlinkat(parent, name, 0);
    return mkdirat(parent, name, S_IRWXU) < 0 && errno != EEXIST ? errno : 0;
}

/* Returns 0, or why it could not be made. */
static int make_place(const struct working_directory *directory)
{
    AUTO_CLOSE int folder = -1;
    struct error err = ERROR_INIT;
    int why;

    if (!working_directory_is_temporary(directory)) {
        (void)fd_make_directories(directory->path, S_IRWXU, &err);
        return err.number;
    }
    why = working_directory_make_one(directory->workplace->root_fd, directory->folder);
    folder = open_folder(directory);
    return folder < 0 ? why : working_directory_make_one(folder, directory->handle);
}

int working_directory_make(struct working_directory *directory, struct error *err)
{
    for (int i = 0; i < WORKPLACE_CREATE_TRIES; i++) {
        int why = make_place(directory);

        if (working_directory_attach(directory) == 0)
            return 0;
        if (why && errno == ENOENT)
            errno = why; /* a full disk, for one */
    }
    return error_set_errno(err, errno, "cannot make the working directory %s", directory->path);
}

int working_directory_restore(struct working_directory *directory, struct error *err)
{
    struct stat ours;

    if (workplace_restore(directory->workplace, err) < 0)
        return -1;
    if (is_in_place(directory, &ours)) {
        if (working_directory_is_temporary(directory))
            directory_allow_owner(directory->fd, &ours); /* a script may have taken its rights */
        return 0;
    }
    return working_directory_attach(directory) < 0 ? working_directory_make(directory, err) : 0;
}

void working_directory_touch(const struct working_directory *directory)
{
    if (working_directory_is_temporary(directory) && directory->fd >= 0)
        (void)futimens(directory->fd, NULL); /* else it is kept less long */
}

struct working_directory *working_directory_ref(struct working_directory *directory)
{
    directory->references++;
    return directory;
}

/* Discards a directory that has no users here, unless another server has locked it. */
static void discard_at_once(struct working_directory *directory)
{
    AUTO_CLOSE int folder = open_folder(directory);
    struct stat ours;

    if (folder < 0 || directory->fd < 0 || working_directory_lock(directory, LOCK_EX) < 0)
        return;
    if (!is_in_place(directory, &ours) ||
        sweep_discard(directory->workplace, folder, directory->handle) < 0)
        return;
    sweep_forget_annex(directory->workplace, directory->handle);
    sweep_hurry(directory->workplace);
}

void working_directory_unref(struct working_directory *directory)
{
    if (!directory || --directory->references > 0)
        return;
    assert(directory->claims == 0);
    working_directory_touch(directory);
    if (working_directory_is_temporary(directory) && directory->workplace->keep_seconds <= 0)
        discard_at_once(directory);
    working_directory_free(directory);
}

int working_directory_fd(const struct working_directory *directory)
{
    return directory->fd;
}

const char *working_directory_path(const struct working_directory *directory)
{
    return directory->path;
}

const char *working_directory_handle(const struct working_directory *directory)
{
    return directory->handle;
}

struct disk_place working_directory_place(const struct working_directory *directory)
{
    return (struct disk_place){.principal = directory->principal,
                               .isolation = directory->isolation,
                               .handle = directory->handle};
}

void working_directory_note(const struct working_directory *directory, uint64_t bytes)
{
    const struct disk_place place = working_directory_place(directory);

    disk_ledger_note(&directory->workplace->ledger, &place, bytes);
}

uint64_t working_directory_bytes(const struct working_directory *directory)
{
    const struct disk_place place = working_directory_place(directory);

    return disk_ledger_bytes(&directory->workplace->ledger, &place);
}

struct disk_share working_directory_share(const struct working_directory *directory)
{
    if (!working_directory_is_temporary(directory))
        return disk_share_of(0, UINT64_MAX);
    return workplace_share(directory->workplace, directory->principal);
}

bool working_directory_is_busy(const struct working_directory *directory, bool can_overlap)
{
    return directory->claims > 0 && (!can_overlap || directory->is_exclusive);
}
