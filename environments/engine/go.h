/* What the server says to a pyexecd-init that was started ahead of its script, on its standard
 * input, when there is a script: which file must lie over script.py by now.
 *
 * The init begins only if it finds that very file, of that size. Somebody may have replaced
 * script.py and so uncovered it, and an engine on another machine could show old contents. What it
 * says first, on both streams, is GO_ANSWER: without one nothing has run. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#define GO_ANSWER '\6'

enum { GO_BYTES = 3 * 16 };

struct go {
    uint64_t device;
    uint64_t inode;
    uint64_t size;
};

struct go go_for(const struct stat *file);

void go_encode(const struct go *go, char bytes[GO_BYTES]);
struct go go_decode(const char bytes[GO_BYTES]);

bool go_is_for(const struct go *go, const struct stat *file);
