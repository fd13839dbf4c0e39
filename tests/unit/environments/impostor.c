#include "tests/unit/environments/impostor.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static int holder = -1; /* of the lease */

static int put_lease(const char *path)
{
    (void)signal(SIGIO, SIG_IGN); /* told to the holder when somebody opens the file */
    holder = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    return fcntl(holder, F_SETLEASE, F_WRLCK);
}

static int put_endless(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    int ret = ftruncate(fd, (off_t)1 << 40);

    close(fd);
    return ret;
}

const char *impostor_put(unsigned number, const char *path, const char *target)
{
    static const char *const names[IMPOSTORS] = {
        "a FIFO", "a link", "a link to a device", "a directory", "a file without end", "a lease",
    };
    const int results[IMPOSTORS] = {
        number == 0 ? mkfifo(path, 0666) : 0,         number == 1 ? symlink(target, path) : 0,
        number == 2 ? symlink("/dev/zero", path) : 0, number == 3 ? mkdir(path, 0700) : 0,
        number == 4 ? put_endless(path) : 0,          number == 5 ? put_lease(path) : 0,
    };

    assert_in_range(number, 0, IMPOSTORS - 1);
    if (results[number] < 0)
        fail_msg("cannot put %s at %s", names[number], path);
    return names[number];
}

void impostor_remove(const char *path)
{
    if (holder >= 0)
        close(holder);
    holder = -1;
    assert_int_equal(remove(path), 0);
}
