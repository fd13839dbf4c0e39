#include "environments/workplace/workplace_private.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/handle.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/untrusted.h"
#include "environments/workplace/disk_share.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char HEX_DIGITS[] = "0123456789abcdef";

bool workplace_is_handle(const char *text)
{
    const char *secret = handle_secret(text);

    return strlen(secret) == HANDLE_DIGITS && strspn(secret, HEX_DIGITS) == HANDLE_DIGITS;
}

static int check_root(const char *root, int fd, struct error *err)
{
    struct stat status;

    if (fstat(fd, &status) < 0)
        return error_set_errno(err, errno, "cannot look at %s", root);
    if (status.st_uid != geteuid())
        return error_set(err, ERROR_UNAVAILABLE, "%s belongs to another user", root);
    if (status.st_mode & (S_IRWXG | S_IRWXO))
        return error_set(err, ERROR_UNAVAILABLE, "%s is open to other users; chmod 700 it", root);
    return 0;
}

static int workplace_open_root(const char *root, struct error *err)
{
    AUTO_CLOSE int fd = -1;

    if (fd_make_directories(root, S_IRWXU, err) < 0)
        return -1;
    fd = open(root, WORKPLACE_OPEN_FLAGS);
    if (fd < 0)
        return error_set_errno(err, errno, "cannot open the directory %s", root);
    return check_root(root, fd, err) < 0 ? -1 : STEAL_FD(fd);
}

static int set_root(struct workplace *workplace, const char *root, struct error *err)
{
    workplace->root_fd = workplace_open_root(root, err);
    if (workplace->root_fd < 0)
        return -1;
    workplace->root = realpath(root, NULL);
    return workplace->root ? 0 : error_set_errno(err, errno, "cannot resolve %s", root);
}

/* A new directory can be swept away before it is locked: then it is not at its place any more. */
static int make_private_directory(struct workplace *workplace, struct error *err)
{
    AUTO_FREE char *digits = random_digits(16);

    workplace->private_name = memory_format("%s%s", PRIVATE_PREFIX, digits);
    for (int i = 0; i < WORKPLACE_CREATE_TRIES; i++) {
        AUTO_CLOSE int fd = -1;
        struct stat status;

        if (mkdirat(workplace->root_fd, workplace->private_name, S_IRWXU) < 0 && errno != EEXIST)
            break;
        fd = openat(workplace->root_fd, workplace->private_name, WORKPLACE_OPEN_FLAGS);
        if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
            continue;
        if (fstatat(workplace->root_fd, workplace->private_name, &status, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        workplace->private_fd = STEAL_FD(fd);
        return 0;
    }
    return error_set_errno(err, errno, "cannot make a directory in %s", workplace->root);
}

/* True when the open directory with the status OURS is not at NAME in PARENT any more. False when
 * the look fails: then nothing is moved, and the next operation reports the error. */
static bool workplace_is_lost(int parent, const char *name, const struct stat *ours)
{
    struct stat there;

    if (fstatat(parent, name, &there, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT || errno == ENOTDIR;
    return !directory_is_same(&there, ours);
}

/* A link or a file that a script has put into the place of the root is removed. */
static int reopen_root(struct workplace *workplace, struct error *err)
{
    AUTO_CLOSE int fd = -1;

    (void)unlink(workplace->root); /* unless it is a directory */
    if (fd_make_directories(workplace->root, S_IRWXU, err) < 0)
        return -1;
    fd = untrusted_open_directory(AT_FDCWD, workplace->root, err);
    if (fd < 0 || check_root(workplace->root, fd, err) < 0)
        return -1;
    close(workplace->root_fd);
    workplace->root_fd = STEAL_FD(fd);
    (void)fchmod(workplace->root_fd, S_IRWXU); /* if that fails, later operations report it */
    return 0;
}

static int workplace_restore_root(struct workplace *workplace, struct error *err)
{
    struct stat ours;

    if (fstat(workplace->root_fd, &ours) < 0 || workplace_is_lost(AT_FDCWD, workplace->root, &ours))
        return reopen_root(workplace, err);
    if ((ours.st_mode & ALLPERMS) != S_IRWXU)
        (void)fchmod(workplace->root_fd, S_IRWXU);
    return 0;
}

static int remake_private_directory(struct workplace *workplace, struct error *err)
{
    if (workplace->private_fd >= 0)
        close(workplace->private_fd);
    workplace->private_fd = -1;
    free(STEAL_PTR(workplace->private_name));
    return make_private_directory(workplace, err);
}

int workplace_restore(struct workplace *workplace, struct error *err)
{
    struct stat ours;

    if (workplace_restore_root(workplace, err) < 0)
        return -1;
    if (fstat(workplace->private_fd, &ours) < 0 ||
        workplace_is_lost(workplace->root_fd, workplace->private_name, &ours))
        return remake_private_directory(workplace, err);
    directory_allow_owner(workplace->private_fd, &ours);
    return 0;
}

static int workplace_set_path(struct workplace *workplace, const char *path, struct error *err)
{
    if (fd_make_directories(path, S_IRWXU, err) < 0)
        return -1;
    workplace->path = realpath(path, NULL);
    if (!workplace->path)
        return error_set_errno(err, errno, "cannot resolve %s", path);
    if (access(workplace->path, R_OK | W_OK | X_OK) < 0)
        return error_set_errno(err, errno, "cannot work in %s", path);
    return 0;
}

struct workplace *workplace_new(const struct workplace_settings *settings, struct error *err)
{
    struct workplace *workplace = NEW(struct workplace);

    workplace->loop = settings->loop;
    workplace->isolations = settings->isolations;
    workplace->keep_seconds = settings->keep_seconds;
    workplace->replica = settings->replica ? memory_copy_string(settings->replica) : NULL;
    workplace->root_fd = -1;
    workplace->private_fd = -1;
    list_init(&workplace->directories);
    workplace->free_bytes = disk_space_free;
    sweep_init(workplace);
    disk_ledger_init(&workplace->ledger);
    disk_survey_init(&workplace->survey);
    if (set_root(workplace, settings->root, err) < 0 ||
        make_private_directory(workplace, err) < 0 ||
        (settings->path && workplace_set_path(workplace, settings->path, err) < 0)) {
        workplace_free(workplace);
        return NULL;
    }
    sweep_start(workplace);
    return workplace;
}

void workplace_set_script(struct workplace *workplace, const char *script)
{
    free(workplace->own_script);
    workplace->own_script = script ? memory_copy_string(script) : NULL;
}

void workplace_extend_script(struct workplace *workplace)
{
    workplace->is_script_extended = true;
}

void workplace_leave_out_output(struct workplace *workplace)
{
    static const int outputs[WORKPLACE_OUTPUTS] = {STDOUT_FILENO, STDERR_FILENO};
    struct stat status;

    for (size_t i = 0; i < WORKPLACE_OUTPUTS; i++)
        if (fstat(outputs[i], &status) == 0)
            workplace->outputs[i] = (struct left_out_file){status.st_dev, status.st_ino};
}

int workplace_lend(struct workplace *workplace, const char *path, const char *script,
                   struct error *err)
{
    AUTO_FREE char *real = realpath(path, NULL);

    assert(list_is_empty(&workplace->directories));
    if (!real || access(real, R_OK | W_OK | X_OK) < 0)
        return error_set_errno(err, errno, "cannot work in %s", path);
    if (strcmp(real, "/") == 0)
        return error_set(err, ERROR_INVALID_ARGUMENTS,
                         "cannot work in /, where scripts may not "
                         "fill everything");
    free(workplace->path);
    workplace->path = STEAL_PTR(real);
    workplace_set_script(workplace, script);
    workplace->isolations = (1U << ISOLATIONS) - 1;
    workplace->is_lent = true;
    return 0;
}

void workplace_set_isolations(struct workplace *workplace, unsigned isolations)
{
    workplace->isolations = isolations;
}

void workplace_set_keeping(struct workplace *workplace, double seconds)
{
    workplace->keep_seconds = seconds;
}

const char *workplace_path(const struct workplace *workplace)
{
    return workplace->path;
}

void workplace_free(struct workplace *workplace)
{
    if (!workplace)
        return;
    disk_survey_stop(workplace);
    assert(list_is_empty(&workplace->directories));
    if (workplace->private_fd >= 0) {
        (void)sweep_discard(workplace, workplace->root_fd, workplace->private_name);
        close(workplace->private_fd);
    }
    sweep_stop(workplace);
    workplace_free(workplace->annexes);
    disk_ledger_deinit(&workplace->ledger);
    if (workplace->root_fd >= 0)
        close(workplace->root_fd);
    free(workplace->private_name);
    free(workplace->root);
    free(workplace->path);
    free(workplace->own_script);
    free(workplace->replica);
    free(workplace);
}

/* The configured directory, if it is in use. */
static struct working_directory *find_configured(struct workplace *workplace)
{
    struct list *first = workplace->directories.next;

    if (list_is_empty(&workplace->directories))
        return NULL;
    return CONTAINER_OF(first, struct working_directory, link);
}

static struct working_directory *find_temporary(struct workplace *workplace,
                                                const struct disk_place *place)
{
    LIST_FOR_EACH (&workplace->directories, link) {
        struct working_directory *directory = CONTAINER_OF(link, struct working_directory, link);

        if (directory->isolation == place->isolation &&
            strcmp(directory->handle, place->handle) == 0 &&
            strcmp(directory->principal, place->principal) == 0)
            return directory;
    }
    return NULL;
}

static struct working_directory *workplace_open_path(struct workplace *workplace, struct error *err)
{
    struct working_directory *directory = find_configured(workplace);

    if (directory)
        return working_directory_ref(directory);
    directory = working_directory_new_configured(workplace);
    if (working_directory_restore(directory, err) == 0)
        return directory;
    working_directory_free(directory);
    return NULL;
}

static struct working_directory *
workplace_open_configured(struct workplace *workplace, enum isolation isolation, struct error *err)
{
    if (!(workplace->isolations & 1U << isolation)) {
        error_set(err, ERROR_INVALID_ARGUMENTS,
                  "all calls work in %s, which is not for environments with isolation \"%s\"; use "
                  "one of the configured environments",
                  workplace->path, isolation_name(isolation));
        return NULL;
    }
    return workplace_open_path(workplace, err);
}

struct disk_share workplace_share(const struct workplace *workplace, const char *principal)
{
    const struct disk_ledger *ledger = &workplace->ledger;

    return disk_share_of(disk_ledger_taken(ledger, principal),
                         ledger->are_several ? workplace->free_bytes(workplace->root_fd)
                                             : UINT64_MAX);
}

static struct working_directory *open_new(struct workplace *workplace, const char *principal,
                                          enum isolation isolation, struct error *err)
{
    const struct disk_share share = workplace_share(workplace, principal);
    AUTO_FREE char *handle = handle_new(workplace->replica, HANDLE_DIGITS);
    struct working_directory *directory;

    if (disk_share_check(&share, err) < 0)
        return NULL;
    directory = working_directory_new_temporary(
        workplace,
        &(struct disk_place){.principal = principal, .isolation = isolation, .handle = handle});
    if (workplace_restore(workplace, err) == 0 && working_directory_make(directory, err) == 0)
        return directory;
    working_directory_free(directory);
    return NULL;
}

struct working_directory *workplace_open_earlier(struct workplace *workplace,
                                                 const struct disk_place *place)
{
    struct working_directory *directory = find_temporary(workplace, place);

    if (directory)
        return working_directory_ref(directory);
    directory = working_directory_new_temporary(workplace, place);
    if (working_directory_attach(directory) == 0) {
        working_directory_touch(directory);
        return directory;
    }
    working_directory_free(directory);
    return NULL;
}

static struct working_directory *open_earlier(struct workplace *workplace, const char *principal,
                                              enum isolation isolation, const char *handle)
{
    return workplace_open_earlier(
        workplace,
        &(struct disk_place){.principal = principal, .isolation = isolation, .handle = handle});
}

/* PRINCIPAL has no directory HANDLE with ISOLATION, or another server removes it just now; he may
 * have it with another isolation. */
static int fail_handle(struct workplace *workplace, const char *principal, enum isolation isolation,
                       const char *handle, struct error *err)
{
    for (int other = 0; other < ISOLATIONS; other++) {
        struct working_directory *directory =
            workplace_is_handle(handle) && other != (int)isolation
                ? open_earlier(workplace, principal, (enum isolation)other, handle)
                : NULL;

        if (!directory)
            continue;
        working_directory_unref(directory);
        return error_set(err, ERROR_INVALID_ARGUMENTS,
                         "this working directory is for environments with isolation \"%s\", and "
                         "this environment has \"%s\": they share no files. Leave the argument "
                         "out, or choose an environment with isolation \"%s\"",
                         isolation_name((enum isolation)other), isolation_name(isolation),
                         isolation_name((enum isolation)other));
    }
    return error_set(err, ERROR_INVALID_ARGUMENTS,
                     "there is no such working directory, or no longer; leave the argument out to "
                     "get one");
}

struct working_directory *workplace_open(struct workplace *workplace, const char *principal,
                                         enum isolation isolation, const char *handle,
                                         struct error *err)
{
    struct working_directory *directory = NULL;

    if (workplace->path)
        return workplace_open_configured(workplace, isolation, err);
    disk_ledger_meet(&workplace->ledger, principal);
    if (!handle)
        return open_new(workplace, principal, isolation, err);
    if (workplace_is_handle(handle))
        directory = open_earlier(workplace, principal, isolation, handle);
    if (!directory)
        fail_handle(workplace, principal, isolation, handle, err);
    return directory;
}

static struct working_directory *workplace_find_configured(struct workplace *workplace,
                                                           unsigned isolations, const char *handle)
{
    struct error ignored = ERROR_INIT;

    if (!(workplace->isolations & isolations) || strcmp(handle, workplace->path) != 0)
        return NULL;
    return workplace_open_path(workplace, &ignored);
}

struct working_directory *workplace_find(struct workplace *workplace, const char *principal,
                                         unsigned isolations, const char *handle)
{
    struct working_directory *directory = NULL;

    if (workplace->path)
        return workplace_find_configured(workplace, isolations, handle);
    for (int isolation = 0; isolation < ISOLATIONS && !directory && workplace_is_handle(handle);
         isolation++)
        directory = open_earlier(workplace, principal, (enum isolation)isolation, handle);
    return directory;
}
