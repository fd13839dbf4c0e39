#include "environments/nodes/node_entry.h"

#include "base/cleanup.h"
#include "base/printable.h"
#include "base/wire.h"
#include "environments/workplace/directory_file.h"

#include <stdio.h>
#include <string.h>

enum {
    NODE_ENTRY_MODES = S_IFMT | S_IRWXU | S_IRWXG | S_IRWXO,
    NODE_ENTRY_SHOWN_BYTES = 120, /* of a path, in messages */
    NODE_ENTRY_NANOSECONDS = 1000000000,
};

size_t node_entry_write(char bytes[NODE_ENTRY_BYTES], const struct node_entry *entry)
{
    char *end = bytes;

    end = wire_put(end, entry->mode & NODE_ENTRY_MODES, 4);
    end = wire_put(end, entry->size, 8);
    end = wire_put(end, (uint64_t)entry->modified.tv_sec, 8);
    end = wire_put(end, (uint64_t)entry->modified.tv_nsec, 4);
    end = stpcpy(end, entry->path) + 1;
    end = stpcpy(end, entry->target);
    return (size_t)(end - bytes);
}

int node_entry_check_path(const char *path, struct error *err)
{
    struct error ignored = ERROR_INIT;
    AUTO_FREE char *clean = directory_file_path(path, &ignored);

    if (clean && strcmp(clean, path) == 0 && strlen(path) <= NODE_ENTRY_PATH_BYTES)
        return 0;
    return error_set(err, ERROR_UNAVAILABLE, "it sends a file to where none may be: %.*s",
                     NODE_ENTRY_SHOWN_BYTES, path);
}

static bool node_entry_is_kind(mode_t mode)
{
    return S_ISREG(mode) || S_ISDIR(mode) || S_ISLNK(mode);
}

int node_entry_read(struct node_entry *ret, const char *data, size_t length, struct error *err)
{
    const char *place = data;
    struct node_entry entry = {0};

    entry.mode = (mode_t)wire_take(&place, 4) & NODE_ENTRY_MODES;
    entry.size = wire_take(&place, 8);
    entry.modified.tv_sec = (time_t)wire_take(&place, 8);
    entry.modified.tv_nsec = (long)(wire_take(&place, 4) % NODE_ENTRY_NANOSECONDS);
    entry.path = place;
    entry.target = place + strlen(place) + 1;
    if (entry.target > data + length || entry.target + strlen(entry.target) != data + length ||
        strlen(entry.target) > NODE_ENTRY_PATH_BYTES || !node_entry_is_kind(entry.mode) ||
        S_ISLNK(entry.mode) != (*entry.target != '\0'))
        return error_set(err, ERROR_UNAVAILABLE, "it sends what is no file");
    if (node_entry_check_path(entry.path, err) < 0)
        return -1;
    *ret = entry;
    return 0;
}

void node_skips_join(struct node_skips *skips, const struct node_skips *more)
{
    const size_t length = strlen(skips->names);
    const char *comma = length > 0 ? ", " : "";

    skips->count += more->count;
    if (more->named == 0 || length + strlen(comma) + strlen(more->names) >= sizeof skips->names)
        return;
    stpcpy(stpcpy(skips->names + length, comma), more->names);
    skips->named += more->named;
}

void node_skips_add(struct node_skips *skips, const char *path, const char *why)
{
    struct node_skips one = {.count = 1, .named = 1};

    snprintf(one.names, sizeof one.names, "%.*s (%s)", NODE_ENTRY_SHOWN_BYTES, path, why);
    printable_clean(one.names);
    node_skips_join(skips, &one);
}
