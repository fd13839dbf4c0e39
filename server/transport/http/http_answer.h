/* Who answers an exchange: what its `data` points to, from the head that was let in to the complete
 * response. */
#pragma once

struct http_answer {
    void (*gone)(struct http_answer *answer);
    void (*drained)(struct http_answer *answer);
};

/* JSON-RPC codes of responses that say more by their status. The first two are as clients know them
 * from the reference implementation, up to 2025-11-25; later revisions leave them to others. */
enum {
    HTTP_CODE_BAD_REQUEST = -32000,
    HTTP_CODE_NO_SESSION = -32001,
    HTTP_CODE_INVALID_REQUEST = -32600,
};
