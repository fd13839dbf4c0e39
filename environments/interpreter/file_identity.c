#include "environments/interpreter/file_identity.h"

#include <sys/stat.h>

static bool file_identity_look(struct file_identity *ret, const char *path)
{
    struct stat status;

    if (stat(path, &status) < 0)
        return false;
    *ret = (struct file_identity){status.st_dev, status.st_ino, status.st_mtim, status.st_size};
    return true;
}

void file_identity_read(struct file_identity *ret, const char *path)
{
    *ret = (struct file_identity){0}; /* there is no inode 0 */
    (void)file_identity_look(ret, path);
}

bool file_identity_holds(const struct file_identity *identity, const char *path)
{
    struct file_identity now;

    return file_identity_look(&now, path) && now.device == identity->device &&
           now.inode == identity->inode && now.size == identity->size &&
           now.modified.tv_sec == identity->modified.tv_sec &&
           now.modified.tv_nsec == identity->modified.tv_nsec;
}

json_t *file_identity_to_json(const struct file_identity *identity)
{
    return json_pack("[I, I, I, I, I]", (json_int_t)identity->device, (json_int_t)identity->inode,
                     (json_int_t)identity->modified.tv_sec, (json_int_t)identity->modified.tv_nsec,
                     (json_int_t)identity->size);
}

void file_identity_from_json(struct file_identity *ret, const json_t *json)
{
    json_int_t device = 0;
    json_int_t inode = 0;
    json_int_t seconds = 0;
    json_int_t nanoseconds = 0;
    json_int_t size = 0;

    if (!json || json_unpack((json_t *)json, "[I, I, I, I, I]", &device, &inode, &seconds,
                             &nanoseconds, &size) < 0)
        inode = 0;
    *ret = (struct file_identity){.device = (dev_t)device,
                                  .inode = (ino_t)inode,
                                  .modified = {seconds, nanoseconds},
                                  .size = size};
}
