#include "environments/nodes/node_receiving.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/untrusted.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    NODE_RECEIVING_FOLDERS = 1000, /* made in one turn of the loop at worst */
    NODE_RECEIVING_DIGITS = 16,    /* of a link's name until it is whole */
    NODE_RECEIVING_RIGHTS = S_IRWXU | S_IRWXG | S_IRWXO,
};

static void node_receiving_count_anew(struct node_receiving *receiving)
{
    receiving->entries = 2 * DIRECTORY_LISTING_ENTRIES; /* as many come and go */
    receiving->folders = NODE_RECEIVING_FOLDERS;
}

void node_receiving_init(struct node_receiving *receiving, int directory,
                         struct directory_listing **known, uint64_t limit)
{
    *receiving = (struct node_receiving){
        .directory = directory,
        .known = known,
        .limit = limit,
        .file = {.fd = -1},
    };
    node_receiving_count_anew(receiving);
}

static void node_receiving_skip(struct node_receiving *receiving, const char *path,
                                const struct error *err)
{
    node_skips_add(&receiving->skips, path, err->number ? strerror(err->number) : err->message);
}

/* Fails for a path that scripts only read. */
static int node_receiving_check(const struct node_receiving *receiving, const char *path,
                                struct error *err)
{
    const size_t length = strcspn(path, "/");

    for (char *const *name = receiving->kept; name && *name; name++)
        if (strlen(*name) == length && strncmp(*name, path, length) == 0)
            return error_set(err, ERROR_UNAVAILABLE, "scripts only read it");
    return 0;
}

/* The other end names each folder before what is in it, but it may be gone here since. */
static int node_receiving_open_parent(struct node_receiving *receiving, const char *path,
                                      const char **ret_name, struct error *err)
{
    const char *slash = strrchr(path, '/');
    AUTO_FREE char *above =
        memory_format("%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    unsigned missing = 0;
    int parent;

    if (node_receiving_check(receiving, path, err) < 0)
        return -1;
    *ret_name = slash ? slash + 1 : path;
    parent = untrusted_open_directory(receiving->directory, above, err);
    if (parent >= 0 || err->number != ENOENT)
        return parent;
    for (const char *place = path; *place; place++)
        missing += *place == '/';
    if (missing > receiving->folders)
        return -1;
    receiving->folders -= missing;
    *err = (struct error)ERROR_INIT;
    return directory_file_parent(receiving->directory, path, ret_name, err);
}

/* The listing of the other end's files */

static void node_receiving_note(const struct node_receiving *receiving, const char *path,
                                const struct stat *status)
{
    if (*receiving->known)
        directory_listing_note(*receiving->known, path, status);
}

/* Fails if somebody else has changed what stands at PATH, which is NAME in PARENT. */
static int node_receiving_spare(const struct node_receiving *receiving, int parent,
                                const char *name, const char *path, struct error *err)
{
    struct stat status;

    if (!receiving->spares_changes || fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
        (*receiving->known && directory_listing_knows(*receiving->known, path, &status)))
        return 0;
    return error_set(err, ERROR_UNAVAILABLE, "changed there; it has changed here, too, and stays");
}

/* A file */

static void node_receiving_drop(struct node_receiving *receiving)
{
    directory_file_abandon(&receiving->file);
    receiving->left = 0;
    free(STEAL_PTR(receiving->path));
}

void node_receiving_end(struct node_receiving *receiving)
{
    node_receiving_drop(receiving);
    if (*receiving->known)
        directory_listing_settle(*receiving->known);
    node_receiving_count_anew(receiving);
}

static void node_receiving_fail_file(struct node_receiving *receiving, const struct error *err)
{
    node_receiving_skip(receiving, receiving->path, err);
    directory_file_abandon(&receiving->file); /* the rest of its bytes is passed over */
}

/* The file is noted as it was before it had its name, so that a later change of it counts; its new
 * name alone changes one of its times. */
static int node_receiving_name_file(struct node_receiving *receiving, struct error *err)
{
    struct arriving_file *file = &receiving->file;
    AUTO_CLOSE int fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
    struct stat status;
    struct stat named;

    if (fd < 0 || fstat(fd, &status) < 0)
        return error_set_errno(err, errno, "cannot look at it");
    if (node_receiving_spare(receiving, file->parent, file->name, receiving->path, err) < 0 ||
        directory_file_finish(file, err) < 0)
        return -1;
    if (fstat(fd, &named) < 0)
        return 0;
    status.st_ctim = named.st_ctim;
    node_receiving_note(receiving, receiving->path, &status);
    return 0;
}

static void node_receiving_finish_file(struct node_receiving *receiving)
{
    const struct timespec times[] = {{.tv_nsec = UTIME_OMIT}, receiving->modified};
    struct error err = ERROR_INIT;

    if (receiving->file.fd >= 0) {
        (void)futimens(receiving->file.fd, times);
        (void)fchmod(receiving->file.fd, receiving->mode & NODE_RECEIVING_RIGHTS);
        if (node_receiving_name_file(receiving, &err) < 0)
            node_receiving_skip(receiving, receiving->path, &err);
    }
    node_receiving_drop(receiving);
}

static int node_receiving_begin_file(struct node_receiving *receiving,
                                     const struct node_entry *entry, struct error *err)
{
    struct error fault = ERROR_INIT;
    const char *name = NULL;
    AUTO_CLOSE int parent = -1;

    if (entry->size > receiving->limit)
        return error_set(err, ERROR_LIMIT, "it sends more than the limit of the disk allows");
    receiving->limit -= entry->size;
    receiving->path = memory_copy_string(entry->path);
    receiving->left = entry->size;
    receiving->mode = entry->mode;
    receiving->modified = entry->modified;
    parent = node_receiving_open_parent(receiving, entry->path, &name, &fault);
    if (parent < 0 || directory_file_begin(&receiving->file, parent, name, &fault) < 0)
        node_receiving_skip(receiving, entry->path, &fault);
    if (receiving->left == 0)
        node_receiving_finish_file(receiving);
    return 0;
}

static int node_receiving_take_content(struct node_receiving *receiving, const char *data,
                                       size_t length, struct error *err)
{
    struct error fault = ERROR_INIT;

    if (!receiving->path || length > receiving->left)
        return error_set(err, ERROR_UNAVAILABLE, "it sends bytes of no file");
    if (length == 0) { /* the other end could not read on, and tells of it */
        node_receiving_drop(receiving);
        return 0;
    }
    if (receiving->file.fd >= 0 && fd_write_all(receiving->file.fd, data, length, &fault) < 0)
        node_receiving_fail_file(receiving, &fault);
    receiving->left -= length;
    if (receiving->left == 0)
        node_receiving_finish_file(receiving);
    return 0;
}

/* Links and folders */

static int node_receiving_make_link(const struct node_receiving *receiving,
                                    const struct node_entry *entry, int parent, const char *name,
                                    struct error *err)
{
    AUTO_FREE char *digits = random_digits(NODE_RECEIVING_DIGITS);
    AUTO_FREE char *aside = memory_format(".put-%s", digits);
    struct stat status;

    if (node_receiving_spare(receiving, parent, name, entry->path, err) < 0)
        return -1;
    if (symlinkat(entry->target, parent, aside) < 0)
        return error_set_errno(err, errno, "cannot make a link");
    if (renameat(parent, aside, parent, name) < 0) {
        error_set_errno(err, errno, "cannot give it its name");
        (void)unlinkat(parent, aside, 0);
        return -1;
    }
    if (fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode))
        node_receiving_note(receiving, entry->path, &status);
    return 0;
}

/* A folder that is here already gets the rights that it has there. */
static int node_receiving_make_folder(const struct node_receiving *receiving,
                                      const struct node_entry *entry, int parent, const char *name,
                                      struct error *err)
{
    AUTO_CLOSE int fd = -1;
    struct stat status;

    if (mkdirat(parent, name, S_IRWXU) < 0 && errno != EEXIST)
        return error_set_errno(err, errno, "cannot make a folder");
    fd = untrusted_open_directory(parent, name, err);
    if (fd < 0)
        return -1;
    (void)fchmod(fd, (entry->mode & NODE_RECEIVING_RIGHTS) | S_IRWXU);
    if (fstat(fd, &status) == 0)
        node_receiving_note(receiving, entry->path, &status);
    return 0;
}

static int node_receiving_make(struct node_receiving *receiving, const struct node_entry *entry,
                               struct error *err)
{
    const char *name = NULL;
    AUTO_CLOSE int parent = node_receiving_open_parent(receiving, entry->path, &name, err);

    if (parent < 0)
        return -1;
    return S_ISLNK(entry->mode) ? node_receiving_make_link(receiving, entry, parent, name, err)
                                : node_receiving_make_folder(receiving, entry, parent, name, err);
}

static int node_receiving_take_entry(struct node_receiving *receiving, const char *data,
                                     size_t length, struct error *err)
{
    struct error fault = ERROR_INIT;
    struct node_entry entry;

    if (receiving->path)
        return error_set(err, ERROR_UNAVAILABLE, "it sends a file within another");
    if (node_entry_read(&entry, data, length, err) < 0)
        return -1;
    if (S_ISREG(entry.mode))
        return node_receiving_begin_file(receiving, &entry, err);
    if (node_receiving_make(receiving, &entry, &fault) < 0)
        node_receiving_skip(receiving, entry.path, &fault);
    return 0;
}

/* Losses */

/* False: it stays, as somebody else has changed it since. */
static bool node_receiving_remove(const struct node_receiving *receiving, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    AUTO_FREE char *above =
        memory_format("%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    struct error ignored = ERROR_INIT;
    AUTO_CLOSE int parent = untrusted_open_directory(receiving->directory, above, &ignored);
    struct stat status;

    if (parent < 0 || fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return ignored.number == ENOENT || (parent >= 0 && errno == ENOENT);
    return *receiving->known && directory_listing_knows(*receiving->known, path, &status) &&
           unlinkat(parent, name, S_ISDIR(status.st_mode) ? AT_REMOVEDIR : 0) == 0;
}

/* A node sends a file that stays there back, so only the server has something to tell. */
static int node_receiving_take_loss(struct node_receiving *receiving, const char *path,
                                    struct error *err)
{
    struct error fault = ERROR_INIT;

    if (node_entry_check_path(path, err) < 0)
        return -1;
    if (node_receiving_check(receiving, path, &fault) < 0)
        node_receiving_skip(receiving, path, &fault);
    else if (!node_receiving_remove(receiving, path) && receiving->spares_changes)
        node_skips_add(&receiving->skips, path, "removed there; it has changed here, and stays");
    if (*receiving->known)
        directory_listing_forget(*receiving->known, path);
    return 0;
}

int node_receiving_take(struct node_receiving *receiving, enum node_frame type, const char *data,
                        size_t length, struct error *err)
{
    if (type == NODE_CONTENT)
        return node_receiving_take_content(receiving, data, length, err);
    if (receiving->entries == 0)
        return error_set(err, ERROR_LIMIT, "it sends more files than a directory may have");
    receiving->entries--;
    return type == NODE_ENTRY ? node_receiving_take_entry(receiving, data, length, err)
                              : node_receiving_take_loss(receiving, data, err);
}
