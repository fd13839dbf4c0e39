/* The contents of the root of every sandbox (root.c), and the access to them (files.c). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROOT_PLACE "/proc" /* exists everywhere; the new root is made there */

/* A file or directory of the machine, at its own place. Links stay links; an entry that a machine
 * does not have is left out. */
struct root_entry {
    const char *path;
    uint64_t attributes; /* of its mount: MOUNT_ATTR_..., beside NOSUID */
    bool is_followed;    /* the target of a link is shown in its place */
};

extern const struct root_entry root_entries[];
extern const size_t root_entry_count;

/* Settings of programs: links in /usr lead there, and without these settings the programs do not
 * start. A machine has few of them. Their owners are not mapped, so a file among them that only
 * root may read is not for a program with a uid of its own. */
extern const char *const root_settings[];
extern const size_t root_setting_count;

/* Directories that are made, in this order. */
extern const char *const root_directories[];
extern const size_t root_directory_count;

/* A file system of its own. Its size is set for each program. */
struct root_file_system {
    const char *type;
    const char *place;
    unsigned long flags;
    const char *options;
};

extern const struct root_file_system root_own[];
extern const size_t root_own_count;

struct root_link {
    const char *target;
    const char *place;
};

extern const struct root_link root_links[];
extern const size_t root_link_count;
