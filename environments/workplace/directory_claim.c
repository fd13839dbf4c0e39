/* The code that a run sees as script.py.
 *
 * The code of a run is laid over script.py in the run's own mount namespace, and comes from where
 * no script can change it. The kernel refuses to rename or remove what is covered in the namespace
 * of the caller, and every script has it covered. So script.py itself is only shown to people: the
 * newest code, as if calls had run in turn. While scripts are at work it stays as it is. Otherwise
 * it is written to if that is safe, else replaced: replacing it would uncover it in containers that
 * are kept.
 *
 * Without a mount namespace script.py itself is executed. It is put there by a rename, by a run
 * that has the directory to itself.
 *
 * A directory that a user lends has no script.py of ours: a script.py there is the user's.
 *
 * "To itself" includes other servers: a directory in use is locked shared, and only a server with
 * the exclusive lock may change script.py. */
#include "base/cleanup.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/untrusted.h"
#include "environments/workplace/directory_file.h"
#include "environments/workplace/disk_share.h"
#include "environments/workplace/working_directory.h"
#include "environments/workplace/workplace_private.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_DIGITS = 16 };

static int lock_shared(struct working_directory *directory, struct error *err)
{
    if (working_directory_lock_shared(directory) == 0)
        return 0;
    return error_set(err, ERROR_BUSY, "%s is locked by another program", directory->path);
}

/* A new file NAME in PARENT that holds CODE. */
static int directory_claim_write_file(int parent, const char *name, const char *code, size_t length,
                                      struct error *err)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    AUTO_CLOSE int fd = openat(parent, name, flags, S_IRUSR | S_IWUSR);

    if (fd < 0)
        return error_set_errno(err, errno, "cannot write the script");
    if (fd_write_all(fd, code, length, err) == 0)
        return 0;
    (void)unlinkat(parent, name, 0);
    return error_prefix(err, "cannot write the script");
}

/* A script may have made a directory of its name; what is in it is kept under another one. */
static int move_aside(int parent)
{
    AUTO_FREE char *digits = random_digits(NAME_DIGITS);
    AUTO_FREE char *name = memory_format(SCRIPT_NAME ".%s", digits);

    return renameat(parent, SCRIPT_NAME, parent, name);
}

static int rename_into_place(int parent, const char *name)
{
    if (renameat(parent, name, parent, SCRIPT_NAME) == 0)
        return 0;
    if (errno != EISDIR || move_aside(parent) < 0)
        return -1;
    return renameat(parent, name, parent, SCRIPT_NAME);
}

/* Makes CODE the script.py of DIRECTORY, whatever stood there. */
static int directory_claim_place(const struct working_directory *directory, const char *code,
                                 size_t length, struct error *err)
{
    AUTO_FREE char *digits = random_digits(NAME_DIGITS);
    AUTO_FREE char *name = memory_format("." SCRIPT_NAME ".%s", digits);

    if (directory_claim_write_file(directory->fd, name, code, length, err) < 0)
        return -1;
    if (rename_into_place(directory->fd, name) == 0)
        return 0;
    error_set_errno(err, errno, "cannot put the script at %s/" SCRIPT_NAME, directory->path);
    (void)unlinkat(directory->fd, name, 0);
    return -1;
}

/* Makes CODE the text of the script.py that is there. Only a file of ours with a single name is
 * written to: by another name it could be anything of ours. It is cut last: what ext4 cuts to
 * nothing goes to the disk when it is closed. False: it has to be replaced. */
static bool directory_claim_rewrite(const struct working_directory *directory, const char *code,
                                    size_t length)
{
    struct error ignored = ERROR_INIT;
    AUTO_CLOSE int fd = untrusted_open(directory->fd, SCRIPT_NAME, O_WRONLY, &ignored);
    struct stat status;

    return fd >= 0 && fstat(fd, &status) == 0 && status.st_nlink == 1 &&
           status.st_uid == geteuid() && fd_write_all(fd, code, length, &ignored) == 0 &&
           ftruncate(fd, (off_t)length) == 0;
}

static int directory_claim_show(const struct working_directory *directory, const char *code,
                                size_t length, struct error *err)
{
    if (directory_claim_rewrite(directory, code, length))
        return 0;
    return directory_claim_place(directory, code, length, err);
}

/* Code needs a script.py to be laid over. A regular file is left alone. */
static int ensure_script(const struct working_directory *directory, const char *code, size_t length,
                         struct error *err)
{
    struct stat status;

    if (fstatat(directory->fd, SCRIPT_NAME, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(status.st_mode))
        return 0;
    return directory_claim_place(directory, code, length, err);
}

static void remember_newest(struct working_directory *directory, const char *code, size_t length)
{
    free(directory->newest_code);
    directory->newest_code = memory_new(length + 1, 1);
    memcpy(directory->newest_code, code, length);
    directory->newest_length = length;
}

/* Makes CODE script.py, for the only run in DIRECTORY. The exclusive lock is held to its end. */
static int place_alone(struct working_directory *directory, const char *code, size_t length,
                       struct error *err)
{
    assert(directory->claims == 1);
    if (working_directory_lock(directory, LOCK_EX) < 0)
        return error_set(err, ERROR_BUSY,
                         "another server runs a script in the working directory; try again later");
    directory->is_exclusive = true;
    return directory_claim_place(directory, code, length, err);
}

/* Shows CODE as script.py now, if nobody else is at work in DIRECTORY, or later. */
static int show_newest(struct working_directory *directory, const char *code, size_t length,
                       struct error *err)
{
    if (directory->claims == 1 && working_directory_lock(directory, LOCK_EX) == 0) {
        if (directory_claim_show(directory, code, length, err) < 0)
            return -1;
        return lock_shared(directory, err);
    }
    remember_newest(directory, code, length);
    if (lock_shared(directory, err) < 0)
        return -1;
    return ensure_script(directory, code, length, err);
}

void directory_claim_offer_file(struct directory_claim *claim)
{
    const struct workplace *workplace = claim->directory->workplace;
    AUTO_FREE char *name = random_digits(NAME_DIGITS);

    claim->file = memory_format("%s/%s/%s", workplace->root, workplace->private_name, name);
}

/* In a directory that is lent: a new file is executed. */
static int be_guest(struct directory_claim *claim, const char *code, size_t length,
                    struct error *err)
{
    const struct working_directory *directory = claim->directory;
    AUTO_FREE char *digits = NULL;
    AUTO_FREE char *name = NULL;

    digits = random_digits(NAME_DIGITS);
    name = memory_format(GUEST_PREFIX "%s.py", digits);
    if (directory_claim_write_file(directory->fd, name, code, length, err) < 0)
        return error_prefix(err, "in %s", directory->path);
    claim->script = memory_format("%s/%s", directory->path, name);
    claim->guest = STEAL_PTR(name);
    return 0;
}

/* Whether runs execute the user's own file. It cannot be executed in place if it is only a part of
 * their code. */
static bool workplace_executes_own_script(const struct workplace *workplace,
                                          enum script_delivery delivery)
{
    return workplace->own_script && (delivery != SCRIPT_IN_PLACE || !workplace->is_script_extended);
}

/* Brings CODE to where the script of CLAIM is. */
static int directory_claim_deliver(struct directory_claim *claim, const char *code, size_t length,
                                   struct error *err)
{
    struct working_directory *directory = claim->directory;

    if (workplace_executes_own_script(directory->workplace, claim->delivery)) {
        claim->script = memory_copy_string(directory->workplace->own_script);
        return 0;
    }
    if (working_directory_is_lent(directory))
        return be_guest(claim, code, length, err);
    claim->script = memory_format("%s/" SCRIPT_NAME, directory->path);
    if (claim->delivery == SCRIPT_IN_PLACE)
        return place_alone(directory, code, length, err);
    return show_newest(directory, code, length, err);
}

/* Reduces the lock of a directory without claims. A temporary one keeps a shared lock, which
 * protects it from sweeps. */
static void relax_lock(struct working_directory *directory)
{
    if (directory->claims == 0)
        (void)working_directory_lock(directory,
                                     working_directory_is_temporary(directory) ? LOCK_SH : LOCK_UN);
}

int directory_claim_open(struct directory_claim *claim, struct working_directory *directory,
                         enum script_delivery delivery, struct error *err)
{
    assert(!working_directory_is_busy(directory, delivery != SCRIPT_IN_PLACE));
    *claim = (struct directory_claim){.delivery = delivery};
    if (working_directory_restore(directory, err) < 0)
        return -1;
    if (directory->claims == 0 && lock_shared(directory, err) < 0)
        return -1;
    working_directory_touch(directory);
    claim->directory = working_directory_ref(directory);
    claim->used_before = disk_space_used(directory->fd);
    directory->claims++;
    return 0;
}

int directory_claim_write(struct directory_claim *claim, const char *code, size_t length,
                          struct error *err)
{
    if (directory_claim_deliver(claim, code, length, err) < 0)
        return -1;
    if (claim->delivery == SCRIPT_IN_FILE)
        directory_claim_offer_file(claim);
    return 0;
}

/* The last claim leaves the code of the newest call as script.py. */
static void directory_claim_settle(struct working_directory *directory)
{
    struct error err = ERROR_INIT;

    if (directory->newest_code && working_directory_lock(directory, LOCK_EX) == 0 &&
        directory_claim_show(directory, directory->newest_code, directory->newest_length, &err) < 0)
        log_debug("%s", err.message);
    free(directory->newest_code);
    directory->newest_code = NULL;
    directory->is_exclusive = false;
    relax_lock(directory);
}

/* Nobody has measured what the run of CLAIM has left. Where it cannot be seen either, that is at
 * most what the file system has grown by. */
static void directory_claim_doubt(const struct directory_claim *claim)
{
    struct workplace *workplace = claim->directory->workplace;
    const struct disk_place place = working_directory_place(claim->directory);
    uint64_t used = disk_space_used(claim->directory->fd);

    if (!workplace->ledger.are_several)
        return;
    disk_ledger_doubt(&workplace->ledger, &place,
                      used > claim->used_before ? used - claim->used_before : 0);
    disk_survey_start(workplace);
}

void directory_claim_close(struct directory_claim *claim)
{
    struct working_directory *directory = claim->directory;

    if (!directory)
        return;
    if (claim->file)
        (void)unlinkat(directory->workplace->private_fd, strrchr(claim->file, '/') + 1, 0);
    if (claim->guest)
        (void)unlinkat(directory->fd, claim->guest, 0);
    if (!claim->is_measured)
        directory_claim_doubt(claim);
    assert(directory->claims > 0);
    if (--directory->claims == 0)
        directory_claim_settle(directory);
    working_directory_touch(directory);
    free(claim->file);
    free(claim->script);
    free(claim->guest);
    *claim = (struct directory_claim){0};
    working_directory_unref(directory);
}
