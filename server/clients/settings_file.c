#include "server/clients/settings_file.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    NEW_FILE_MODE = 0600, /* settings may come to hold tokens */
    NEW_DIRECTORY_MODE = 0700,
};

/* The file as it was read. */
struct settings_file {
    char *path; /* without links; owned */
    char *text; /* owned; NULL when there is no file */
    struct stat status;
};

static void settings_file_deinit(struct settings_file *file)
{
    free(file->path);
    free(file->text);
}

/* -1 with ERR unless FD is a file of text. */
static int settings_file_read_text(struct settings_file *file, int fd, struct error *err)
{
    size_t length = 0;

    if (fstat(fd, &file->status) < 0)
        return error_set_errno(err, errno, "cannot be examined");
    if (!S_ISREG(file->status.st_mode))
        return error_set(err, ERROR_CONFIG, "is not a regular file");
    file->text = fd_read_all(fd, SETTINGS_BYTES, &length, err);
    if (!file->text)
        return -1;
    if (strlen(file->text) != length || !utf8_is_valid(file->text, length))
        return error_set(err, ERROR_CONFIG, "is not text in UTF-8");
    return 0;
}

/* A link must lead to a file; otherwise nobody knows where a new one belongs. */
static int settings_file_find(struct settings_file *file, const char *path, struct error *err)
{
    char target[2];

    file->path = realpath(path, NULL);
    if (file->path)
        return 0;
    if (errno != ENOENT)
        return error_set_errno(err, errno, "%s", path);
    if (readlink(path, target, sizeof target) >= 0)
        return error_set(err, ERROR_CONFIG, "%s is a link that leads nowhere", path);
    file->path = memory_copy_string(path);
    return 1;
}

static int settings_file_read(struct settings_file *file, const char *path, struct error *err)
{
    AUTO_CLOSE int fd = -1;
    int found = settings_file_find(file, path, err);

    if (found != 0)
        return found < 0 ? -1 : 0;
    fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
    if (fd < 0)
        return error_set_errno(err, errno, "cannot open %s", path);
    return settings_file_read_text(file, fd, err) < 0 ? error_prefix(err, "%s", path) : 0;
}

/* Writes TEXT to a new file at PATH with the mode and the owner of the file that was read. */
static int write_like(const struct settings_file *file, const char *path, const char *text,
                      struct error *err)
{
    const mode_t mode = file->text ? file->status.st_mode & 07777 : NEW_FILE_MODE;
    AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return error_set_errno(err, errno, "cannot make the file %s", path);
    if (file->text && (file->status.st_uid != geteuid() || file->status.st_gid != getegid()) &&
        fchown(fd, file->status.st_uid, file->status.st_gid) < 0)
        return error_set_errno(err, errno, "cannot give %s its owner", path);
    if (fchmod(fd, mode) < 0)
        return error_set_errno(err, errno, "cannot give %s its mode", path);
    if (fd_write_all(fd, text, strlen(text), err) < 0)
        return error_prefix(err, "%s", path);
    return fsync(fd) < 0 ? error_set_errno(err, errno, "cannot write %s", path) : 0;
}

/* A reader of PATH finds all of TEXT, or the file that was there before. */
static int replace_with(const struct settings_file *file, const char *path, const char *text,
                        struct error *err)
{
    AUTO_FREE char *next = memory_format("%s.pyexecd-%d", path, (int)getpid());

    if (write_like(file, next, text, err) == 0) {
        if (rename(next, path) == 0)
            return 0;
        error_set_errno(err, errno, "cannot write %s", path);
    }
    (void)unlink(next);
    return -1;
}

/* Clients write their settings, too. */
static int check_unchanged(const struct settings_file *file, struct error *err)
{
    struct stat now;

    if (file->text && stat(file->path, &now) == 0 && now.st_ino == file->status.st_ino &&
        now.st_size == file->status.st_size && now.st_mtim.tv_sec == file->status.st_mtim.tv_sec &&
        now.st_mtim.tv_nsec == file->status.st_mtim.tv_nsec)
        return 0;
    if (!file->text && access(file->path, F_OK) < 0)
        return 0;
    return error_set(err, ERROR_BUSY, "%s has changed meanwhile: try again", file->path);
}

static int make_folder(const char *path, struct error *err)
{
    AUTO_FREE char *folder = memory_copy_string(path);

    *strrchr(folder, '/') = '\0';
    return *folder ? fd_make_directories(folder, NEW_DIRECTORY_MODE, err) : 0;
}

static int settings_file_write(const struct settings_file *file, const char *text,
                               struct error *err)
{
    AUTO_FREE char *backup = memory_format("%s.pyexecd-backup", file->path);

    if (file->text && replace_with(file, backup, file->text, err) < 0)
        return -1;
    if (!file->text && make_folder(file->path, err) < 0)
        return -1;
    if (check_unchanged(file, err) < 0)
        return -1;
    if (text)
        return replace_with(file, file->path, text, err);
    return unlink(file->path) < 0 ? error_set_errno(err, errno, "cannot remove %s", file->path) : 0;
}

static int settings_file_change(const struct settings_file *file, const struct settings_edit *edit,
                                char **ret_text, struct error *err)
{
    struct error fault = ERROR_INIT;
    int outcome = edit->change == SETTINGS_PUT
                      ? edit->format->put(file->text, &edit->entry, ret_text, &fault)
                      : edit->format->take(file->text, &edit->entry, ret_text, &fault);

    if (outcome < 0)
        return error_set(err, ERROR_CONFIG, "%s:%s", edit->path, fault.message);
    return outcome;
}

int settings_file_edit(const struct settings_edit *edit, struct error *err)
{
    AUTO(settings_file_deinit) struct settings_file file = {0};
    AUTO_FREE char *text = NULL;
    int outcome;

    if (settings_file_read(&file, edit->path, err) < 0)
        return -1;
    outcome = settings_file_change(&file, edit, &text, err);
    if (outcome <= SETTINGS_SAME || edit->is_trial)
        return outcome;
    return settings_file_write(&file, text, err) < 0 ? -1 : outcome;
}

bool settings_file_has(const char *path, const struct settings_format *format,
                       const struct settings_entry *entry)
{
    struct error err = ERROR_INIT;
    const struct settings_edit edit = {
        .path = path,
        .format = format,
        .entry = *entry,
        .change = SETTINGS_TAKE,
        .is_trial = true,
    };

    return settings_file_edit(&edit, &err) > SETTINGS_SAME;
}
