#include "environments/workplace/directory_listing.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "environments/workplace/mime_type.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    PATH_BYTES = (DIRECTORY_LISTING_DEPTH + 1) * (NAME_MAX + 1),
    BLOCK_BYTES = 512, /* the unit of st_blocks, whatever the file system's is */
};

struct listed_file {
    size_t path; /* where it starts in `paths` */
    uint64_t size;
    ino_t inode;
    struct timespec modified;
    struct timespec changed; /* cannot be set by a program */
};

struct directory_listing {
    struct listed_file *files; /* owned; sorted by path */
    size_t count;
    size_t capacity;
    char *paths; /* owned; all paths, each with its NUL */
    size_t paths_length;
    size_t paths_capacity;
    uint64_t bytes;
    bool is_complete;      /* false: there is more than was looked at */
    struct timespec taken; /* by the clock that files are stamped with */
};

/* A walk through a tree without recursion: one open directory per level. */
struct directory_listing_walk {
    DIR *levels[DIRECTORY_LISTING_DEPTH];
    size_t depth;                           /* levels in use */
    size_t ends[DIRECTORY_LISTING_DEPTH];   /* length of each level's path in `path` */
    bool is_cache[DIRECTORY_LISTING_DEPTH]; /* counted, not listed */
    char path[PATH_BYTES];                  /* of the entry at hand, from the root of the tree */
    unsigned entries;                       /* seen so far */
    struct directory_listing *listing;      /* borrowed; NULL when only bytes are wanted */
    uint64_t bytes;
    bool is_complete;
};

static void directory_listing_enter(struct directory_listing_walk *walk, int parent,
                                    const char *name, bool is_cache)
{
    AUTO_CLOSE int fd = -1;
    DIR *stream;

    if (walk->depth == DIRECTORY_LISTING_DEPTH) {
        walk->is_complete = false;
        return;
    }
    fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    stream = fd >= 0 ? fdopendir(fd) : NULL;
    if (!stream) {
        walk->is_complete = false;
        return;
    }
    STEAL_FD(fd);
    walk->levels[walk->depth] = stream;
    walk->ends[walk->depth] = strlen(walk->path);
    walk->is_cache[walk->depth] = is_cache;
    walk->depth++;
}

static void directory_listing_leave(struct directory_listing_walk *walk)
{
    walk->depth--;
    closedir(walk->levels[walk->depth]);
}

/* Puts NAME behind the path of the level at hand. */
static void directory_listing_set_path(struct directory_listing_walk *walk, const char *name)
{
    size_t end = walk->ends[walk->depth - 1];
    size_t length = strlen(name);

    assert(end + 1 + length < sizeof walk->path);
    if (end > 0)
        walk->path[end++] = '/';
    memcpy(walk->path + end, name, length + 1);
}

static size_t store_path(struct directory_listing *listing, const char *path)
{
    size_t start = listing->paths_length;
    size_t length = strlen(path) + 1;

    while (listing->paths_capacity - start < length) {
        listing->paths_capacity = listing->paths_capacity ? listing->paths_capacity * 2 : 1024;
        listing->paths = memory_resize(listing->paths, listing->paths_capacity);
    }
    memcpy(listing->paths + start, path, length);
    listing->paths_length += length;
    return start;
}

static void add_file(struct directory_listing *listing, const char *path, const struct stat *status)
{
    if (listing->count == listing->capacity) {
        listing->capacity = listing->capacity ? listing->capacity * 2 : 16;
        listing->files = memory_resize(listing->files, listing->capacity * sizeof *listing->files);
    }
    listing->files[listing->count++] = (struct listed_file){
        .path = store_path(listing, path),
        .size = (uint64_t)status->st_size,
        .inode = status->st_ino,
        .modified = status->st_mtim,
        .changed = status->st_ctim,
    };
}

static bool is_cache_name(const char *name)
{
    return name[0] == '.' || strcmp(name, "__pycache__") == 0;
}

/* Every name of a file with several counts for its part, so that links do not look like growth. */
static uint64_t bytes_of(const struct stat *status)
{
    uint64_t bytes = (uint64_t)status->st_blocks * BLOCK_BYTES;

    return S_ISDIR(status->st_mode) || status->st_nlink == 0 ? bytes : bytes / status->st_nlink;
}

static void directory_listing_visit(struct directory_listing_walk *walk, const char *name)
{
    int directory = dirfd(walk->levels[walk->depth - 1]);
    bool is_cache = walk->is_cache[walk->depth - 1];
    struct stat status;

    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return; /* gone in the meantime */
    walk->bytes += bytes_of(&status);
    directory_listing_set_path(walk, name);
    if (S_ISDIR(status.st_mode))
        directory_listing_enter(walk, directory, name, is_cache || is_cache_name(name));
    else if (S_ISREG(status.st_mode) && walk->listing && !is_cache)
        add_file(walk->listing, walk->path, &status);
}

static void walk_tree(struct directory_listing_walk *walk, int directory)
{
    walk->is_complete = true;
    directory_listing_enter(walk, directory, ".", false);
    while (walk->depth > 0) {
        const struct dirent *entry = readdir(walk->levels[walk->depth - 1]);

        if (!entry) {
            directory_listing_leave(walk);
            continue;
        }
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (walk->entries++ == DIRECTORY_LISTING_ENTRIES) {
            walk->is_complete = false;
            break;
        }
        directory_listing_visit(walk, entry->d_name);
    }
    while (walk->depth > 0)
        directory_listing_leave(walk);
}

static int compare_files(const void *a, const void *b, void *paths)
{
    const struct listed_file *first = a;
    const struct listed_file *second = b;

    return strcmp((const char *)paths + first->path, (const char *)paths + second->path);
}

struct directory_listing *directory_listing_new(int directory)
{
    struct directory_listing *listing = NEW(struct directory_listing);
    struct directory_listing_walk walk = {.listing = listing};

    clock_gettime(CLOCK_REALTIME_COARSE, &listing->taken);
    walk_tree(&walk, directory);
    listing->bytes = walk.bytes;
    listing->is_complete = walk.is_complete;
    if (listing->count > 0)
        qsort_r(listing->files, listing->count, sizeof *listing->files, compare_files,
                listing->paths);
    return listing;
}

void directory_listing_free(struct directory_listing *listing)
{
    if (!listing)
        return;
    free(listing->files);
    free(listing->paths);
    free(listing);
}

uint64_t directory_listing_bytes(const struct directory_listing *listing)
{
    return listing->bytes;
}

uint64_t directory_bytes(int directory)
{
    struct directory_listing_walk walk = {0};

    walk_tree(&walk, directory);
    return walk.bytes;
}

static const struct listed_file *find_file(const struct directory_listing *listing,
                                           const char *path)
{
    size_t low = 0;
    size_t high = listing->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct listed_file *file = &listing->files[middle];
        int order = strcmp(path, listing->paths + file->path);

        if (order == 0)
            return file;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

static bool is_same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool is_earlier(struct timespec a, struct timespec b)
{
    return a.tv_sec < b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec < b.tv_nsec);
}

static bool is_changed(const struct directory_listing *before, const char *path,
                       const struct listed_file *after)
{
    const struct listed_file *earlier = find_file(before, path);

    if (!earlier) /* new, unless it may only have been overlooked */
        return before->is_complete || !is_earlier(after->changed, before->taken);
    return earlier->inode != after->inode || earlier->size != after->size ||
           !is_same_time(earlier->modified, after->modified) ||
           !is_same_time(earlier->changed, after->changed);
}

json_t *directory_listing_changes(const struct directory_listing *before,
                                  const struct directory_listing *after)
{
    json_t *changes = json_array();

    for (size_t i = 0; i < after->count; i++) {
        const struct listed_file *file = &after->files[i];
        const char *path = after->paths + file->path;

        if (!is_changed(before, path, file))
            continue;
        if (json_array_size(changes) == DIRECTORY_LISTING_CHANGES)
            break;
        json_array_append_new(changes,
                              json_pack("{s:o, s:I, s:s}",                                //
                                        "path", json_string_repaired(path, strlen(path)), //
                                        "size", (json_int_t)file->size,                   //
                                        "mimeType", mime_type_of_path(path)));
    }
    return changes;
}
