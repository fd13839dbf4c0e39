#include "server/configuration/private_file.h"

#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

/* True when GROUP lists nobody but the user NAME. */
static bool is_listed_alone(const struct group *group, const char *name)
{
    for (char **member = group->gr_mem; *member; member++)
        if (strcmp(*member, name) != 0)
            return false;
    return true;
}

/* True when NUMBER is the primary group of no other user than USER. */
static bool is_nobody_elses(gid_t number, uid_t user)
{
    const struct passwd *each;
    bool is_alone = true;

    setpwent();
    while (is_alone && (each = getpwent()))
        is_alone = each->pw_gid != number || each->pw_uid == user;
    endpwent();
    return is_alone;
}

static bool is_private_group(gid_t number, uid_t user)
{
    const struct passwd *owner = getpwuid(user);
    const struct group *group;

    if (!owner || owner->pw_gid != number)
        return false;
    group = getgrgid(number);
    return group && is_listed_alone(group, owner->pw_name) && is_nobody_elses(number, user);
}

int private_file_check(const struct stat *status, const char *path, struct error *err)
{
    const char *who = NULL;

    if (status->st_mode & S_IWOTH)
        who = "others";
    else if (status->st_mode & S_IWGRP && !is_private_group(status->st_gid, status->st_uid))
        who = "its group";
    if (!who)
        return 0;
    return error_set(err, ERROR_CONFIG,
                     "%s may write it (mode %04o), and it decides what is executed; chmod go-w %s",
                     who, status->st_mode & 07777U, path);
}
