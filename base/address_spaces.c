#include "base/address_spaces.h"

#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool address_spaces_are_one(pid_t one, pid_t other)
{
    return syscall(SYS_kcmp, one, other, KCMP_VM, 0, 0) == 0;
}

bool address_spaces_can_compare(void)
{
    return address_spaces_are_one(getpid(), getpid());
}

bool address_spaces_add(struct address_spaces *spaces, pid_t thread)
{
    for (size_t i = 0; i < spaces->count; i++)
        if (address_spaces_are_one(spaces->threads[i], thread))
            return false;
    if (spaces->count < ADDRESS_SPACES_MOST)
        spaces->threads[spaces->count++] = thread;
    return true;
}
