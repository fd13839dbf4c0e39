/* What a tool wants to have run: the arguments of its call, read once. */
#pragma once

#include <jansson.h>
#include <stddef.h>

enum { PYTHON_CODE_BYTES = 1024 * 1024 };

/* Strings and JSON are borrowed from the arguments of the invocation, which outlive the run. */
struct python_request {
    const char *code;
    size_t code_length;
    const char *environment;       /* its name; NULL: the default one, or what DEFINITION says */
    const json_t *definition;      /* of an environment that the call brings along; NULL: none */
    double timeout;                /* seconds; 0: as long as the environment says */
    const char *working_directory; /* the handle of an earlier result; NULL: see python_caller.h */
};
