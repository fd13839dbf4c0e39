/* A script chooses how many files there are, and their names. */
#include "environments/process/runner/left_files.h"

#include "environments/process/runner/message.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#define LEFT_PLACE    "/tmp"
#define LEFT_OF_NAMES "abcdefghijklmnopqrstuvwxyz0123456789_"

enum {
    LEFT_LOOKED_AT = 4096, /* entries of the directory; they take some milliseconds */
    LEFT_NAMED = 5,
    LEFT_TEMPORARY_LENGTH = 8, /* of the letters that the module tempfile adds to "tmp" */
};

struct left_files {
    uint32_t count;
    char message[CONTROL_TEXT_BYTES]; /* the count, then the names with their NULs */
    size_t length;
};

/* True for a name from the module tempfile: nobody looks for such a file. */
static bool left_files_is_temporary(const char *name)
{
    return strncmp(name, "tmp", 3) == 0 &&
           strspn(name + 3, LEFT_OF_NAMES) == LEFT_TEMPORARY_LENGTH &&
           name[3 + LEFT_TEMPORARY_LENGTH] == '\0';
}

/* Another device is that of a path which the sandbox shows there. */
static bool left_files_is_result(int directory, const char *name)
{
    struct stat place;
    struct stat file;

    return name[0] != '.' && !left_files_is_temporary(name) && fstat(directory, &place) == 0 &&
           fstatat(directory, name, &file, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(file.st_mode) &&
           file.st_size > 0 && file.st_dev == place.st_dev;
}

static void left_files_add(struct left_files *left, const char *name)
{
    const size_t bytes = strlen(name) + 1;

    left->count++;
    if (left->count > LEFT_NAMED || left->length + bytes > sizeof left->message)
        return;
    memcpy(left->message + left->length, name, bytes);
    left->length += bytes;
}

static void left_files_read(struct left_files *left, DIR *directory)
{
    const struct dirent *entry = readdir(directory);

    for (int i = 0; entry && i < LEFT_LOOKED_AT; i++) {
        if (left_files_is_result(dirfd(directory), entry->d_name))
            left_files_add(left, entry->d_name);
        entry = readdir(directory);
    }
}

void left_files_tell(void)
{
    struct left_files left = {.length = sizeof left.count};
    DIR *directory = opendir(LEFT_PLACE);

    if (!directory)
        return;
    left_files_read(&left, directory);
    closedir(directory);
    memcpy(left.message, &left.count, sizeof left.count);
    if (left.count > 0)
        message_send(CONTROL_LEFT, left.message, left.length);
}
