/* The go: says to a pyexecd-init that was started ahead of its script that there is a script, and
 * names the file that must lie over script.py.
 *
 * The init begins only if it finds this file with this size. A process may have replaced script.py
 * and so uncovered it, and an engine on another machine could show old contents. The init then says
 * INIT_BEGUN (init_protocol.h) first: without it nothing has run.
 *
 * On another machine the file has other device and inode numbers. There the go has none, the code
 * itself follows it (INIT_CODE), and the init begins if script.py has these bytes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

enum { GO_BYTES = 3 * 8 }; /* little-endian numbers */

struct go {
    uint64_t device;
    uint64_t inode;
    uint64_t size;
};

struct go go_for(const struct stat *file);

/* A go for SIZE bytes of code, which follow it. */
struct go go_with_code(uint64_t size);
bool go_has_code(const struct go *go);

void go_encode(const struct go *go, char bytes[GO_BYTES]);
struct go go_decode(const char bytes[GO_BYTES]);

bool go_is_for(const struct go *go, const struct stat *file);
