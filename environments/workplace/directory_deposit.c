#include "environments/workplace/directory_deposit.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/memory.h"
#include "base/untrusted.h"
#include "environments/workplace/workplace_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    DEPOSIT_NAMES = 100,   /* tried before the directory counts as full of them */
    DEPOSIT_RIGHTS = 0644, /* a script in a container may be another user */
};

static char *deposit_name(const char *stem, int number)
{
    return number == 1 ? memory_format("%s.txt", stem) : memory_format("%s-%d.txt", stem, number);
}

static int deposit_write(int parent, const char *name, const char *text, size_t length,
                         struct error *err)
{
    AUTO_CLOSE int fd = untrusted_open(parent, name, O_WRONLY | O_CREAT | O_EXCL, err);

    if (fd < 0)
        return -1;
    (void)fchmod(fd, DEPOSIT_RIGHTS); /* the server's own scripts can read it in any case */
    if (fd_write_all(fd, text, length, err) == 0)
        return 0;
    (void)unlinkat(parent, name, 0);
    return -1;
}

static bool deposit_is_taken(const struct error *err)
{
    return err->number == EEXIST || err->number == ELOOP;
}

/* Fails when the principal of DIRECTORY may add nothing any more. */
static int deposit_check_share(const struct working_directory *directory, struct error *err)
{
    const struct disk_share share = working_directory_share(directory);
    AUTO_FREE char *text = share.is_used_up ? disk_share_text(&share) : NULL;

    return text ? error_set(err, ERROR_LIMIT, "%s", text) : 0;
}

char *directory_deposit(struct working_directory *directory, const char *stem, const char *text,
                        size_t length, struct error *err)
{
    if (working_directory_restore(directory, err) < 0 || deposit_check_share(directory, err) < 0)
        return NULL;
    for (int number = 1; number <= DEPOSIT_NAMES; number++) {
        AUTO_FREE char *name = deposit_name(stem, number);

        error_clear(err);
        if (deposit_write(directory->fd, name, text, length, err) == 0) {
            working_directory_note(directory, working_directory_bytes(directory) + length);
            return STEAL_PTR(name);
        }
        if (!deposit_is_taken(err))
            return NULL;
    }
    error_clear(err);
    error_set(err, ERROR_SYSTEM, "all names from %s.txt to %s-%d.txt are taken", stem, stem,
              DEPOSIT_NAMES);
    return NULL;
}
