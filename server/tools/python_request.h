/* What a tool is to run: the arguments of its call, in one struct. */
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
    const char *session;        /* "new" or a handle: it is a cell of that session; NULL: of none */
    const char *fork;           /* handle: likewise, of a copy of that session; NULL: of none */
    const char *shown;          /* to the person who is to approve it, instead of CODE; or NULL */
    struct environment *chosen; /* borrowed: of an earlier part of the same call, approved with it;
                                   NULL: this one chooses */
    void *data;                 /* of the tool, for its DONE; borrowed */
};
