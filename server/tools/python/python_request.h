/* A request to run Python: the arguments of a tool's call, in one struct. */
#pragma once

#include <jansson.h>
#include <stddef.h>

struct environment;

#define PYTHON_NEW_SESSION "new"

enum { PYTHON_CODE_BYTES = 1024 * 1024 };

/* Strings and JSON are borrowed from the arguments of the invocation, which outlive the run. */
struct python_request {
    const char *code;
    size_t code_length;
    const char *environment;       /* name; NULL: DEFINITION or the default */
    const json_t *definition;      /* of an environment; NULL: none */
    double timeout;                /* seconds; 0: the default of the environment */
    json_t *files;                 /* to put into the directory first; NULL: none */
    const char *working_directory; /* handle; NULL: see python_caller.h */
    const char *session;           /* "new" or a handle: the session whose cell the code is; NULL:
                                      none */
    const char *fork;              /* handle: the session whose copy gets the code as a cell; NULL:
                                      none */
    const char *shown;            /* code to show to the person who approves it, instead of CODE; or
                                     NULL */
    struct environment *chosen;   /* borrowed: the environment of an earlier part of the same call,
                                     approved with it; NULL: this request chooses */
    const json_t *approved_tools; /* with CHOSEN: as in struct run_setting */
    void *data;                   /* of the tool, for its DONE; borrowed */
};
