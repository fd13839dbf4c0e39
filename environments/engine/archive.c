#include "environments/engine/archive.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/untrusted.h"
#include "environments/engine/directory_walk.h"
#include "environments/engine/tar_header.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

enum {
    PENDING_BYTES = 2 * TAR_HEADER_LIMIT_BYTES,
    END_BYTES = 2 * TAR_BLOCK_BYTES,
    FILE_MODE = 0644,
};

/* A file from memory. */
struct memory_file {
    struct list link;
    char *name; /* owned */
    char *data; /* owned */
    size_t length;
};

struct archive {
    uint64_t limit;
    uint64_t total;              /* bytes that were given out */
    struct list files;           /* of struct memory_file: owned */
    struct directory_walk *walk; /* owned; or NULL */
    struct buffer pending;       /* headers and padding that come before the contents */
    char *name;                  /* owned: of the entry under way */
    struct memory_file *file;    /* owned; the contents, where they come from memory; or NULL */
    int fd;                      /* owned; the contents, where they come from a file; or -1 */
    uint64_t left;               /* bytes of the contents that were not given out */
    size_t padding;              /* bytes behind the contents */
    bool ended;
};

static const char ZEROS[END_BYTES];

struct archive *archive_new(uint64_t limit)
{
    struct archive *archive = NEW(struct archive);

    archive->limit = limit;
    archive->fd = -1;
    list_init(&archive->files);
    buffer_init(&archive->pending, PENDING_BYTES);
    return archive;
}

static void memory_file_free(struct memory_file *file)
{
    if (!file)
        return;
    list_remove(&file->link);
    free(file->name);
    free(file->data);
    free(file);
}

static void close_contents(struct archive *archive)
{
    memory_file_free(archive->file);
    archive->file = NULL;
    if (archive->fd >= 0)
        close(archive->fd);
    archive->fd = -1;
}

void archive_free(struct archive *archive)
{
    if (!archive)
        return;
    close_contents(archive);
    LIST_FOR_EACH_SAFE (&archive->files, link)
        memory_file_free(CONTAINER_OF(link, struct memory_file, link));
    directory_walk_free(archive->walk);
    buffer_deinit(&archive->pending);
    free(archive->name);
    free(archive);
}

void archive_add_file(struct archive *archive, const char *name, const char *data, size_t length)
{
    struct memory_file *file = NEW(struct memory_file);

    file->name = memory_copy_string(name);
    file->data = memory_new(length, 1);
    file->length = length;
    if (length > 0)
        memcpy(file->data, data, length);
    list_append(&archive->files, &file->link);
}

int archive_set_directory(struct archive *archive, const char *path, struct dockerignore *ignore,
                          struct error *err)
{
    assert(!archive->walk);
    archive->walk = directory_walk_new(path, ignore, err);
    return archive->walk ? 0 : -1;
}

/* The header of an entry whose contents, if it has any, are open already. */
static int begin_entry(struct archive *archive, const struct tar_entry *entry, struct error *err)
{
    free(archive->name);
    archive->name = memory_copy_string(entry->name);
    archive->left = entry->size;
    archive->padding = tar_padding(entry->size);
    return tar_header_append(&archive->pending, entry, err);
}

static int begin_memory_file(struct archive *archive, struct error *err)
{
    struct memory_file *file = CONTAINER_OF(archive->files.next, struct memory_file, link);
    const struct tar_entry entry = {
        .type = TAR_FILE, .name = file->name, .mode = FILE_MODE, .size = file->length};

    list_remove(&file->link);
    archive->file = file;
    return begin_entry(archive, &entry, err);
}

static int begin_file(struct archive *archive, struct directory_entry *found,
                      struct tar_entry *entry, struct error *err)
{
    /* It may have become something else since it was looked at: a link, a pipe. */
    archive->fd = untrusted_open(found->parent, found->name, O_RDONLY, err);
    if (archive->fd < 0)
        return error_prefix(err, "cannot read %s", found->path);
    if (fstat(archive->fd, &found->about) < 0)
        return error_set_errno(err, errno, "cannot read %s", found->path);
    entry->type = TAR_FILE;
    entry->size = (uint64_t)found->about.st_size;
    return begin_entry(archive, entry, err);
}

static int begin_link(struct archive *archive, const struct directory_entry *found,
                      struct tar_entry *entry, struct error *err)
{
    char target[PATH_MAX];
    ssize_t length = readlinkat(found->parent, found->name, target, sizeof target - 1);
    int ret;

    if (length < 0)
        return error_set_errno(err, errno, "cannot read the link %s", found->path);
    target[length] = '\0';
    entry->type = TAR_LINK;
    entry->link = target;
    ret = begin_entry(archive, entry, err);
    entry->link = NULL;
    return ret;
}

static int begin_found(struct archive *archive, struct directory_entry *found, struct error *err)
{
    struct tar_entry entry = {
        .name = found->path,
        .mode = found->about.st_mode,
        .modified = found->about.st_mtime,
    };

    if (S_ISREG(found->about.st_mode))
        return begin_file(archive, found, &entry, err);
    if (S_ISLNK(found->about.st_mode))
        return begin_link(archive, found, &entry, err);
    if (!S_ISDIR(found->about.st_mode))
        return 0;
    entry.type = TAR_DIRECTORY;
    return begin_entry(archive, &entry, err);
}

/* Goes on to the next entry, or to the end. */
static int begin_next(struct archive *archive, struct error *err)
{
    struct directory_entry found;
    int more;

    if (!list_is_empty(&archive->files))
        return begin_memory_file(archive, err);
    more = archive->walk ? directory_walk_next(archive->walk, &found, err) : 0;
    if (more > 0)
        return begin_found(archive, &found, err);
    archive->ended = true;
    return more < 0 ? -1 : buffer_append(&archive->pending, ZEROS, END_BYTES, err);
}

static ssize_t read_pending(struct archive *archive, char *room, size_t size)
{
    size_t length = size_min(buffer_length(&archive->pending), size);

    memcpy(room, buffer_bytes(&archive->pending), length);
    buffer_consume(&archive->pending, length);
    return (ssize_t)length;
}

static ssize_t read_contents(struct archive *archive, char *room, size_t size, struct error *err)
{
    size_t wanted = size_min(archive->left, size);
    ssize_t length = (ssize_t)wanted;

    if (archive->file)
        memcpy(room, archive->file->data + archive->file->length - archive->left, wanted);
    else
        length = read(archive->fd, room, wanted);
    if (length < 0)
        return error_set_errno(err, errno, "cannot read %s", archive->name);
    if (length == 0)
        return error_set(err, ERROR_SYSTEM, "%s got shorter while it was read", archive->name);
    archive->left -= (uint64_t)length;
    return length;
}

/* Closes what was read to its end and prepares what comes next. */
static int archive_go_on(struct archive *archive, struct error *err)
{
    size_t padding = archive->padding;

    close_contents(archive);
    archive->padding = 0;
    if (buffer_append(&archive->pending, ZEROS, padding, err) < 0)
        return -1;
    return archive->ended ? 0 : begin_next(archive, err);
}

ssize_t archive_read(struct archive *archive, char *room, size_t size, struct error *err)
{
    ssize_t length = 0;

    while (!archive->ended && archive->left == 0 && buffer_length(&archive->pending) == 0)
        if (archive_go_on(archive, err) < 0)
            return -1;
    if (buffer_length(&archive->pending) > 0)
        length = read_pending(archive, room, size);
    else if (archive->left > 0)
        length = read_contents(archive, room, size, err);
    if (length < 0)
        return -1;
    archive->total += (uint64_t)length;
    if (archive->total > archive->limit)
        return error_set(err, ERROR_LIMIT, "the archive has more than %llu bytes",
                         (unsigned long long)archive->limit);
    return length;
}
