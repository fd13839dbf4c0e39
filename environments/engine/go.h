/* The go: a message to a pyexecd-init that was started ahead of its script. The server sends it to
 * the init's standard input when there is a script, and names the file that must lie over
 * script.py.
 *
 * The init begins only if it finds this file with this size. A process may have replaced script.py
 * and so uncovered it, and an engine on another machine could show old contents. The init then says
 * WIRE_BEGUN (wire.h) first: without it nothing has run.
 *
 * On another machine the file has other device and inode numbers. There the go has none, the code
 * itself follows it, and the init begins if script.py has these bytes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

enum {
    GO_BYTES = 3 * 16,
    GO_NOT_BEGUN = 75, /* the exit status of an init that has run no script; a script that came with
                          its code never exits with it */
};

struct go {
    uint64_t device;
    uint64_t inode;
    uint64_t size;
};

struct go go_for(const struct stat *file);

/* A go for SIZE bytes of code, which follow it. */
struct go go_with_code(uint64_t size);
bool go_has_code(const struct go *go);

/* A go that matches no file. An init that receives it exits. */
struct go go_for_nothing(void);

void go_encode(const struct go *go, char bytes[GO_BYTES]);
struct go go_decode(const char bytes[GO_BYTES]);

bool go_is_for(const struct go *go, const struct stat *file);
