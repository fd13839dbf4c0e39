#include "environments/workplace/directory_listing.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/untrusted.h"
#include "base/utf8.h"
#include "environments/workplace/directory_file.h"
#include "environments/workplace/directory_measure.h"
#include "environments/workplace/directory_removal.h"
#include "environments/workplace/mime_type.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATHS_BYTES = 4 << 20 }; /* the most for all paths of a listing */

#define DIRECTORY_LISTING_SIZE (1ull << 62) /* of files that are said to have more */

struct listed_file {
    size_t path; /* where it starts in `paths` */
    uint64_t size;
    ino_t inode;
    mode_t mode;
    struct timespec modified;
    struct timespec changed; /* cannot be set by a program */
};

struct listed_folder {
    size_t path; /* where it starts in `paths` */
    unsigned depth;
};

struct directory_listing {
    int root;                      /* borrowed in the first step, then owned */
    bool keeps_root;               /* it is owned */
    bool has_all;                  /* its files have folders and links among them */
    DIR *stream;                   /* owned; the folder at hand, or NULL */
    struct listed_folder here;     /* the folder at hand */
    struct listed_folder *folders; /* owned; folders still to be looked into */
    size_t folder_count;
    size_t folder_capacity;
    unsigned entries;                     /* seen so far */
    const struct left_out_file *left_out; /* borrowed */
    size_t left_out_count;

    struct listed_file *files; /* owned; sorted by path in the end */
    size_t count;
    size_t noted; /* behind them, in the order in which they were noted */
    size_t capacity;
    char *paths; /* owned; all paths, each with its NUL */
    size_t paths_length;
    size_t paths_capacity;
    uint64_t bytes;        /* of the entries, as a measure counts them */
    bool is_whole;         /* false: a measure would count otherwise */
    bool is_complete;      /* false: not all of the tree was looked at */
    struct timespec taken; /* when it began, by the clock that files are stamped with */
};

/* False: there is no more room for paths. */
static bool directory_listing_has_room(struct directory_listing *listing, size_t length)
{
    if (length > PATHS_BYTES - listing->paths_length)
        return false;
    while (listing->paths_capacity - listing->paths_length < length) {
        listing->paths_capacity *= 2;
        listing->paths = memory_resize(listing->paths, listing->paths_capacity);
    }
    return true;
}

/* Keeps the path of NAME in the folder at hand. False: there is no more room. */
static bool directory_listing_store(struct directory_listing *listing, const char *name,
                                    size_t *ret_start)
{
    size_t folder = strlen(listing->paths + listing->here.path);
    size_t start = listing->paths_length;
    char *end;

    if (!directory_listing_has_room(listing, folder + 1 + strlen(name) + 1))
        return false;
    end = mempcpy(listing->paths + start, listing->paths + listing->here.path, folder);
    if (folder > 0)
        *end++ = '/';
    end = stpcpy(end, name) + 1;
    listing->paths_length = (size_t)(end - listing->paths);
    *ret_start = start;
    return true;
}

/* Behind all files, whatever their order. PATH is where its path starts. */
static void directory_listing_append(struct directory_listing *listing, size_t path,
                                     const struct stat *status)
{
    const size_t place = listing->count + listing->noted;

    if (place == listing->capacity) {
        listing->capacity = listing->capacity ? listing->capacity * 2 : 16;
        listing->files = memory_resize(listing->files, listing->capacity * sizeof *listing->files);
    }
    listing->files[place] = (struct listed_file){
        .path = path,
        .size = (uint64_t)status->st_size,
        .inode = status->st_ino,
        .mode = status->st_mode,
        .modified = status->st_mtim,
        .changed = status->st_ctim,
    };
}

static void directory_listing_add_file(struct directory_listing *listing, const char *name,
                                       const struct stat *status)
{
    size_t path;

    if (!directory_listing_store(listing, name, &path)) {
        listing->is_complete = false;
        return;
    }
    directory_listing_append(listing, path, status);
    listing->count++;
}

/* Compiled modules are never of use elsewhere. */
static bool directory_listing_is_cache(const struct directory_listing *listing, const char *name)
{
    return (name[0] == '.' && !listing->has_all) || strcmp(name, "__pycache__") == 0;
}

static void directory_listing_add_folder(struct directory_listing *listing, const char *name)
{
    struct listed_folder folder = {
        .depth = listing->here.depth + 1,
    };

    if (directory_listing_is_cache(listing, name)) {
        listing->is_whole = false;
        return;
    }
    if (folder.depth == DIRECTORY_LISTING_DEPTH ||
        !directory_listing_store(listing, name, &folder.path)) {
        listing->is_complete = false;
        return;
    }
    if (listing->folder_count == listing->folder_capacity) {
        listing->folder_capacity = listing->folder_capacity ? listing->folder_capacity * 2 : 16;
        listing->folders =
            memory_resize(listing->folders, listing->folder_capacity * sizeof *listing->folders);
    }
    listing->folders[listing->folder_count++] = folder;
}

/* True for a script of ours in a directory that a user lends. It is no file of a run, but a node
 * needs it. */
static bool directory_listing_is_guest(const struct directory_listing *listing, const char *name)
{
    return !listing->has_all && listing->here.depth == 0 &&
           strncmp(name, GUEST_PREFIX, strlen(GUEST_PREFIX)) == 0;
}

static bool directory_listing_leaves_out(const struct directory_listing *listing,
                                         const struct stat *status)
{
    for (size_t i = 0; i < listing->left_out_count; i++)
        if (listing->left_out[i].device == status->st_dev &&
            listing->left_out[i].inode == status->st_ino)
            return true;
    return false;
}

static bool directory_listing_wants(const struct directory_listing *listing, const char *name,
                                    const struct stat *status)
{
    if (directory_listing_leaves_out(listing, status))
        return false;
    if (S_ISREG(status->st_mode))
        return !directory_listing_is_guest(listing, name);
    return listing->has_all &&
           !(S_ISDIR(status->st_mode) && directory_listing_is_cache(listing, name));
}

static void directory_listing_visit(struct directory_listing *listing, const char *name)
{
    struct stat status;

    if (fstatat(dirfd(listing->stream), name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return; /* gone in the meantime */
    listing->bytes += directory_measure_entry(&status);
    listing->is_whole &= S_ISDIR(status.st_mode) || status.st_nlink == 1;
    if (directory_listing_wants(listing, name, &status))
        directory_listing_add_file(listing, name, &status);
    if (S_ISDIR(status.st_mode))
        directory_listing_add_folder(listing, name);
}

/* The folder at PATH, which may have been changed since, but leads nowhere else. */
static int directory_listing_open(const struct directory_listing *listing, const char *path)
{
    const char *name = strrchr(path, '/');
    AUTO_FREE char *above = name ? memory_format("%.*s", (int)(name - path), path) : NULL;
    struct error ignored = ERROR_INIT;
    AUTO_CLOSE int parent = -1;

    if (!*path)
        return directory_open_again(listing->root);
    if (!name)
        return directory_open_child(listing->root, path);
    parent = untrusted_open_directory(listing->root, above, &ignored);
    return parent < 0 ? -1 : directory_open_child(parent, name + 1);
}

/* Goes into the next folder. */
static void directory_listing_enter(struct directory_listing *listing)
{
    AUTO_CLOSE int fd = -1;

    listing->here = listing->folders[--listing->folder_count];
    fd = directory_listing_open(listing, listing->paths + listing->here.path);
    listing->stream = fd >= 0 ? fdopendir(fd) : NULL;
    if (listing->stream)
        STEAL_FD(fd);
    else
        listing->is_complete = false;
}

static void directory_listing_leave(struct directory_listing *listing)
{
    if (listing->stream)
        closedir(listing->stream);
    listing->stream = NULL;
}

/* Looks at the next entry of the folder at hand. */
static void directory_listing_read(struct directory_listing *listing)
{
    const struct dirent *entry = readdir(listing->stream);

    if (!entry) {
        directory_listing_leave(listing);
    } else if (text_is_dots(entry->d_name)) {
        return;
    } else if (listing->entries++ == DIRECTORY_LISTING_ENTRIES) {
        listing->is_complete = false;
        listing->folder_count = 0;
        directory_listing_leave(listing);
    } else {
        directory_listing_visit(listing, entry->d_name);
    }
}

/* Of two with one path the later comes last. */
static int compare_files(const void *a, const void *b, void *paths)
{
    const struct listed_file *first = a;
    const struct listed_file *second = b;
    const int order = strcmp((const char *)paths + first->path, (const char *)paths + second->path);

    return order != 0 ? order : (first->path > second->path) - (first->path < second->path);
}

/* There will be another step. */
static void directory_listing_keep_root(struct directory_listing *listing)
{
    if (!listing->keeps_root)
        listing->root = fcntl(listing->root, F_DUPFD_CLOEXEC, 0);
    listing->keeps_root = true;
}

static void directory_listing_leave_root(struct directory_listing *listing)
{
    if (listing->keeps_root && listing->root >= 0)
        close(listing->root);
    listing->keeps_root = false;
}

/* All has been looked at. */
static void directory_listing_finish(struct directory_listing *listing)
{
    directory_listing_leave_root(listing);
    free(listing->folders);
    listing->folders = NULL;
    if (listing->count > 0)
        qsort_r(listing->files, listing->count, sizeof *listing->files, compare_files,
                listing->paths);
}

struct directory_listing *directory_listing_new(int directory)
{
    struct directory_listing *listing = NEW(struct directory_listing);

    clock_gettime(CLOCK_REALTIME_COARSE, &listing->taken);
    listing->root = directory;
    listing->is_complete = listing->is_whole = true;
    listing->paths_capacity = 1024;
    listing->paths = memory_new(listing->paths_capacity, 1);
    listing->paths_length = 1; /* the root's path is empty */
    listing->folder_count = listing->folder_capacity = 1;
    listing->folders = NEW(struct listed_folder);
    return listing;
}

struct directory_listing *directory_listing_new_of_all(int directory)
{
    struct directory_listing *listing = directory_listing_new(directory);

    listing->has_all = true;
    return listing;
}

void directory_listing_leave_out(struct directory_listing *listing,
                                 const struct left_out_file *files, size_t count)
{
    listing->left_out = files;
    listing->left_out_count = count;
}

struct directory_listing *directory_listing_new_empty(void)
{
    struct directory_listing *listing = directory_listing_new_of_all(-1);

    listing->folder_count = 0;
    (void)directory_listing_step(listing, 0);
    return listing;
}

bool directory_listing_step(struct directory_listing *listing, unsigned operations)
{
    while (operations-- > 0 && (listing->stream || listing->folder_count > 0)) {
        if (listing->stream)
            directory_listing_read(listing);
        else
            directory_listing_enter(listing);
    }
    if (listing->stream || listing->folder_count > 0) {
        directory_listing_keep_root(listing);
        return true;
    }
    directory_listing_finish(listing);
    return false;
}

void directory_listing_free(struct directory_listing *listing)
{
    if (!listing)
        return;
    directory_listing_leave(listing);
    directory_listing_leave_root(listing);
    free(listing->folders);
    free(listing->files);
    free(listing->paths);
    free(listing);
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

/* A file without room for its path counts as not seen. */
void directory_listing_note(struct directory_listing *listing, const char *path,
                            const struct stat *status)
{
    const size_t length = strlen(path) + 1;
    const size_t start = listing->paths_length;

    if (!directory_listing_has_room(listing, length))
        return;
    memcpy(listing->paths + start, path, length);
    listing->paths_length += length;
    directory_listing_append(listing, start, status);
    listing->noted++;
}

void directory_listing_forget(struct directory_listing *listing, const char *path)
{
    directory_listing_note(listing, path, &(struct stat){0});
}

/* Of several files with one path the last counts. A file that is forgotten has no kind. */
void directory_listing_settle(struct directory_listing *listing)
{
    const size_t all = listing->count + listing->noted;
    size_t kept = 0;

    if (listing->noted == 0)
        return;
    qsort_r(listing->files, all, sizeof *listing->files, compare_files, listing->paths);
    for (size_t i = 0; i < all; i++) {
        const struct listed_file *file = &listing->files[i];
        const char *path = listing->paths + file->path;
        const bool is_last = i + 1 == all || strcmp(path, listing->paths + file[1].path) != 0;

        if (is_last && file->mode != 0)
            listing->files[kept++] = *file;
    }
    listing->count = kept;
    listing->noted = 0;
}

static bool is_same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool is_earlier(struct timespec a, struct timespec b)
{
    return a.tv_sec < b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec < b.tv_nsec);
}

/* The times of a folder change with its entries. */
static bool is_changed(const struct directory_listing *before, const char *path,
                       const struct listed_file *after)
{
    const struct listed_file *earlier = find_file(before, path);

    if (earlier && S_ISDIR(after->mode))
        return earlier->mode != after->mode;
    if (!earlier) /* new, unless it may only have been overlooked then */
        return before->is_complete || !is_earlier(after->changed, before->taken);
    return earlier->inode != after->inode || earlier->size != after->size ||
           !is_same_time(earlier->modified, after->modified) ||
           !is_same_time(earlier->changed, after->changed);
}

static json_t *directory_listing_describe(const char *path, const struct listed_file *file)
{
    return json_pack("{s:o, s:I, s:s}",                                //
                     "path", json_string_repaired(path, strlen(path)), //
                     "size", (json_int_t)file->size,                   //
                     "mimeType", mime_type_of_path(path));
}

bool directory_listing_measures(const struct directory_listing *listing, uint64_t *ret_bytes)
{
    *ret_bytes = listing->bytes;
    return listing->is_complete && listing->is_whole;
}

json_t *directory_listing_files(const struct directory_listing *listing, const char *after,
                                size_t most)
{
    json_t *files = json_array();

    for (size_t i = 0; i < listing->count && json_array_size(files) < most; i++) {
        const char *path = listing->paths + listing->files[i].path;

        if ((!after || strcmp(path, after) > 0) && utf8_is_valid(path, strlen(path)))
            json_array_append_new(files, directory_listing_describe(path, &listing->files[i]));
    }
    return files;
}

static bool directory_listing_lacks_any(const struct directory_listing *before,
                                        const struct directory_listing *after)
{
    for (size_t i = 0; i < before->count; i++) {
        if (!find_file(after, before->paths + before->files[i].path))
            return true;
    }
    return false;
}

struct directory_changes directory_listing_changes(const struct directory_listing *before,
                                                   const struct directory_listing *after)
{
    struct directory_changes changes = {
        .files = json_array(),
        .are_complete = after->is_complete,
        .has_removed = directory_listing_lacks_any(before, after),
    };

    for (size_t i = 0; i < after->count; i++) {
        const struct listed_file *file = &after->files[i];
        const char *path = after->paths + file->path;

        if (!is_changed(before, path, file))
            continue;
        if (json_array_size(changes.files) == DIRECTORY_LISTING_CHANGES) {
            changes.are_complete = false;
            break;
        }
        json_array_append_new(changes.files, directory_listing_describe(path, file));
    }
    return changes;
}

bool directory_listing_is_complete(const struct directory_listing *listing)
{
    return listing->is_complete;
}

uint64_t directory_listing_size(const struct directory_listing *listing)
{
    uint64_t size = 0;

    for (size_t i = 0; i < listing->count; i++)
        if (S_ISREG(listing->files[i].mode))
            size += listing->files[i].size < DIRECTORY_LISTING_SIZE - size
                        ? listing->files[i].size
                        : DIRECTORY_LISTING_SIZE - size;
    return size;
}

const char *directory_listing_next_change(const struct directory_listing *before,
                                          const struct directory_listing *after, size_t *place)
{
    while (*place < after->count) {
        const struct listed_file *file = &after->files[(*place)++];
        const char *path = after->paths + file->path;

        if (!before || is_changed(before, path, file))
            return path;
    }
    return NULL;
}

/* Backwards, so that what is in a folder comes before it. */
const char *directory_listing_next_loss(const struct directory_listing *before,
                                        const struct directory_listing *after, size_t *place)
{
    while (*place < before->count) {
        const struct listed_file *file = &before->files[before->count - ++*place];
        const char *path = before->paths + file->path;
        const struct listed_file *now = find_file(after, path);

        if (!now || (now->mode & S_IFMT) != (file->mode & S_IFMT))
            return path;
    }
    return NULL;
}

bool directory_listing_knows(const struct directory_listing *listing, const char *path,
                             const struct stat *status)
{
    const struct listed_file *file = find_file(listing, path);

    if (!file || (file->mode & S_IFMT) != (status->st_mode & S_IFMT))
        return false;
    return S_ISDIR(status->st_mode) ||
           (file->inode == status->st_ino && file->size == (uint64_t)status->st_size &&
            is_same_time(file->modified, status->st_mtim) &&
            is_same_time(file->changed, status->st_ctim));
}
