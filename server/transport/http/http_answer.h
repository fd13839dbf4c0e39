/* The answering side of an exchange: its `data` points to it from the admitted head to the complete
 * response. */
#pragma once

struct http_answer {
    void (*gone)(struct http_answer *answer);
    void (*drained)(struct http_answer *answer);
};

/* JSON-RPC codes of responses whose status says more. Clients know the first two from the reference
 * implementation, up to 2025-11-25; later revisions do not use them. */
enum {
    HTTP_CODE_BAD_REQUEST = -32000,
    HTTP_CODE_NO_SESSION = -32001,
    HTTP_CODE_INVALID_REQUEST = -32600,
};
