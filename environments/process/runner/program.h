/* A program that the server asks for, as a CONTROL_RUN describes it. */
#pragma once

#include "environments/process/control.h"

#include <stdbool.h>
#include <stddef.h>

/* One program to run; points into the message it was read from. */
struct program {
    struct control_run run;
    char **arguments;
    char **variables;
    char **paths; /* of the sandbox: enum control_access, then the path */
    const char *directory;
    const char *script; /* where the code is to appear; NULL: nowhere */
    int code;           /* a file that holds the code; or -1 */
    int input;          /* its standard input; or -1: /dev/null */
    int tools;          /* the socket by which its script calls tools; or -1 */
    int outlet;         /* the socket to the proxy of this network; or -1 */
    int gate;           /* the program's end of its gate; or -1 */
    int orders;         /* of a zygote */
    int core;           /* of a zygote: its library */
    char *payload;      /* LENGTH bytes of its CONTROL_RUN */
    size_t length;
};

/* True when the sandbox of PROGRAM has devices. */
bool program_has_devices(const struct program *program);

/* Splits the payload of a CONTROL_RUN, which has at least a struct control_run. False when it is
 * malformed, or a descriptor that it needs is -1 in DESCRIPTORS. */
bool program_parse(struct program *program, char *payload, size_t length,
                   const int descriptors[CONTROL_DESCRIPTORS]);
