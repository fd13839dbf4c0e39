/* What the server says to a pyexecd-init that was started ahead of its script, on its standard
 * input, when there is a script: which file must lie over script.py by now.
 *
 * The init begins only if it finds that very file, of that size. Somebody may have replaced
 * script.py and so uncovered it, and an engine on another machine could show old contents. What it
 * says first, on both streams, is GO_ANSWER: without one nothing has run.
 *
 * On another machine a file has other numbers. A go that has none is followed by the code itself,
 * and the init begins if script.py has these bytes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#define GO_ANSWER '\6'

enum {
    GO_BYTES = 3 * 16,
    GO_NOT_BEGUN = 75, /* the exit status of an init that has begun nothing; a script that is told
                        * by its content never ends with it */
};

struct go {
    uint64_t device;
    uint64_t inode;
    uint64_t size;
};

struct go go_for(const struct stat *file);

/* One for SIZE bytes, which follow it. */
struct go go_with_code(uint64_t size);
bool go_has_code(const struct go *go);

/* One that no file is for: who gets it ends. */
struct go go_for_nothing(void);

void go_encode(const struct go *go, char bytes[GO_BYTES]);
struct go go_decode(const char bytes[GO_BYTES]);

bool go_is_for(const struct go *go, const struct stat *file);
