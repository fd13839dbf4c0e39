#include "server/tools/hints/directory_names.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/spelling.h"
#include "base/untrusted.h"
#include "base/utf8.h"
#include "environments/workplace/directory_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
    NAMES_MOST = 1000,
    NAME_BYTES = 60, /* of a name that is shown; a spelling can be as long */
    NAMES_NEAR = 3,
    NAMES_SHOWN = 8,
};

static bool directory_name_is_hidden(const char *name)
{
    return *name == '.' || strcmp(name, SCRIPT_NAME) == 0;
}

bool directory_name_is_plain(const char *name)
{
    const size_t length = strlen(name);

    for (const char *at = name; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            return false;
    return length > 0 && length <= NAME_BYTES && !directory_name_is_hidden(name) &&
           utf8_is_valid(name, length);
}

static int directory_names_compare(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Reads from STREAM, up to a bound. */
static void directory_names_collect(struct directory_names *names, DIR *stream)
{
    const struct dirent *entry = readdir(stream);

    names->is_complete = true;
    for (unsigned i = 0; entry && i < NAMES_MOST; i++, entry = readdir(stream))
        if (directory_name_is_plain(entry->d_name))
            names->names[names->count++] = memory_copy_string(entry->d_name);
        else if (!directory_name_is_hidden(entry->d_name))
            names->is_complete = false;
    if (entry)
        names->is_complete = false;
    qsort(names->names, names->count, sizeof *names->names, directory_names_compare);
}

int directory_names_read(struct directory_names *ret, const char *path)
{
    struct error ignored = ERROR_INIT;
    const int directory = untrusted_open_directory(AT_FDCWD, path, &ignored);
    DIR *stream = directory < 0 ? NULL : fdopendir(directory);

    if (!stream) {
        if (directory >= 0)
            close(directory);
        return -1;
    }
    *ret = (struct directory_names){.names = memory_new(NAMES_MOST, sizeof *ret->names)};
    directory_names_collect(ret, stream);
    closedir(stream);
    return 0;
}

void directory_names_deinit(struct directory_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->names[i]);
    free(names->names);
    *names = (struct directory_names){0};
}

bool directory_names_have(const struct directory_names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->names[i], name) == 0)
            return true;
    return false;
}

/* The length of NAME without its extension. */
static size_t directory_name_stem(const char *name)
{
    const char *dot = strrchr(name, '.');

    return dot && dot > name ? (size_t)(dot - name) : strlen(name);
}

/* NAME in small letters. Owned by the caller. */
static char *directory_name_fold(const char *name)
{
    char *folded = memory_copy_string(name);

    for (char *at = folded; *at; at++)
        if (*at >= 'A' && *at <= 'Z')
            *at = (char)(*at - 'A' + 'a');
    return folded;
}

static size_t directory_name_distance(const char *a, const char *b)
{
    AUTO_FREE char *from = directory_name_fold(a);
    AUTO_FREE char *to = directory_name_fold(b);

    return spelling_distance(from, to);
}

/* A third of the name may be wrong; or the extension is another one. */
static bool directory_name_is_near(const char *name, const char *wanted)
{
    const size_t length = strlen(wanted);
    const size_t stem = directory_name_stem(wanted);

    if (directory_name_stem(name) == stem && strncasecmp(name, wanted, stem) == 0)
        return true;
    return length <= NAME_BYTES && 3 * directory_name_distance(wanted, name) <= length;
}

/* LIST (owned; or NULL) with NAME behind it. */
static char *directory_names_join(char *list, const char *name)
{
    char *longer = list ? memory_format("%s, %s", list, name) : memory_copy_string(name);

    free(list);
    return longer;
}

char *directory_names_near(const struct directory_names *names, const char *name)
{
    unsigned count = 0;
    char *list = NULL;

    for (size_t i = 0; i < names->count && count < NAMES_NEAR; i++)
        if (directory_name_is_near(names->names[i], name)) {
            list = directory_names_join(list, names->names[i]);
            count++;
        }
    return list;
}

char *directory_names_list(const struct directory_names *names)
{
    char *list = NULL;

    if (names->count == 0)
        return names->is_complete ? memory_copy_string("no files") : NULL;
    for (size_t i = 0; i < names->count && i < NAMES_SHOWN; i++)
        list = directory_names_join(list, names->names[i]);
    if (names->count > NAMES_SHOWN || !names->is_complete)
        list = directory_names_join(list, "...");
    return list;
}
