#include "environments/workplace/access_list.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/untrusted.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define ACCESS   "system.posix_acl_access"
#define DEFAULTS "system.posix_acl_default"

enum {
    VERSION = 2,
    MOST = 64, /* entries; longer lists are left alone */
    NOBODY = -1,
};

enum { READ = 4, WRITE = 2, EXECUTE = 1, ALL = READ | WRITE | EXECUTE };

/* In the order and byte order (little-endian) that the kernel wants.
 */
enum tag {
    TAG_OWNER = 1,
    TAG_USER = 2,
    TAG_GROUP = 4,
    TAG_OTHER_GROUP = 8,
    TAG_MASK = 16,
    TAG_OTHER = 32
};

struct access_list_entry {
    uint16_t tag;
    uint16_t permissions;
    uint32_t id;
};

struct access_list {
    uint32_t version;
    struct access_list_entry entries[MOST];
};

static size_t size_of(size_t count)
{
    return offsetof(struct access_list, entries) + count * sizeof(struct access_list_entry);
}

/* Makes LIST from MODE, for a file that has no list yet. Returns the number of entries. */
static size_t from_mode(struct access_list *list, mode_t mode)
{
    const struct access_list_entry entries[] = {
        {TAG_OWNER, mode >> 6 & ALL, (uint32_t)NOBODY},
        {TAG_GROUP, mode >> 3 & ALL, (uint32_t)NOBODY},
        {TAG_OTHER, mode & ALL, (uint32_t)NOBODY},
    };

    memcpy(list->entries, entries, sizeof entries);
    return ARRAY_SIZE(entries);
}

static size_t read_list(struct access_list *list, int fd, const char *name, mode_t mode)
{
    ssize_t size = fgetxattr(fd, name, list, sizeof *list);

    list->version = VERSION;
    if (size <= (ssize_t)size_of(0))
        return from_mode(list, mode);
    return ((size_t)size - size_of(0)) / sizeof(struct access_list_entry);
}

/* Adds PERMISSIONS to the entry of TAG and ID, which is made where it belongs when it is missing.
 * The number of entries then. */
static size_t access_list_add(struct access_list *list, size_t count,
                              const struct access_list_entry *wanted)
{
    size_t at = 0;

    while (at < count &&
           (list->entries[at].tag < wanted->tag ||
            (list->entries[at].tag == wanted->tag && list->entries[at].id < wanted->id)))
        at++;
    if (at < count && list->entries[at].tag == wanted->tag && list->entries[at].id == wanted->id) {
        list->entries[at].permissions |= wanted->permissions;
        return count;
    }
    if (count == MOST)
        return count;
    memmove(list->entries + at + 1, list->entries + at,
            (count - at) * sizeof(struct access_list_entry));
    list->entries[at] = *wanted;
    return count + 1;
}

static size_t add_user(struct access_list *list, size_t count, uid_t uid, uint16_t permissions)
{
    count = access_list_add(list, count, &(struct access_list_entry){TAG_USER, permissions, uid});
    return access_list_add(list, count,
                           &(struct access_list_entry){TAG_MASK, permissions, (uint32_t)NOBODY});
}

static int access_list_fail(const char *path, uid_t uid, struct error *err)
{
    return error_set_errno(err, errno, "cannot open %s to user %u by an access control list", path,
                           (unsigned)uid);
}

static int access_list_extend(int fd, uid_t uid, uint16_t permissions)
{
    struct access_list list;
    struct stat status;
    size_t count;

    if (fstat(fd, &status) < 0)
        return -1;
    count = add_user(&list, read_list(&list, fd, ACCESS, status.st_mode), uid, permissions);
    return fsetxattr(fd, ACCESS, &list, size_of(count), 0);
}

static int access_list_extend_defaults(int fd, uid_t uid)
{
    struct access_list list;
    size_t count = read_list(&list, fd, DEFAULTS, S_IRWXU);

    count = add_user(&list, count, uid, ALL);
    count = add_user(&list, count, geteuid(), ALL);
    return fsetxattr(fd, DEFAULTS, &list, size_of(count), 0);
}

int access_list_open_file(const char *path, uid_t uid, struct error *err)
{
    AUTO_CLOSE int fd = untrusted_open(AT_FDCWD, path, O_RDONLY, err);

    if (fd < 0)
        return -1;
    return access_list_extend(fd, uid, READ) < 0 ? access_list_fail(path, uid, err) : 0;
}

int access_list_open_directory(const char *path, uid_t uid, struct error *err)
{
    AUTO_CLOSE int fd = untrusted_open_directory(AT_FDCWD, path, err);

    if (fd < 0)
        return -1;
    if (access_list_extend(fd, uid, ALL) < 0 || access_list_extend_defaults(fd, uid) < 0)
        return access_list_fail(path, uid, err);
    return 0;
}
