/* The head of an HTTP/1 answer on a connection that was taken over: strict, since what follows it
 * is another protocol. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    RESPONSE_HEAD_BYTES = 16 * 1024,
    RESPONSE_STATUS_UPGRADED = 101,
    RESPONSE_STATUS_OK = 200,
};

struct response_head {
    int status;
    size_t length;       /* of the head; the body, or the other protocol, begins there */
    bool has_length;     /* the body is ... */
    size_t body_length;  /* ... so long */
    bool is_transformed; /* chunked or the like */
};

/* 1 and RET when DATA begins with a whole head, 0 when more is needed, -1 with ERR when it never
 * will. */
int response_head_parse(const char *data, size_t length, struct response_head *ret,
                        struct error *err);
