/* Input: a state that somebody brings. Nothing that was not sealed here is ever taken, also when it
 * is a good one with something cut off and put in its place. */
#undef NDEBUG
#include "base/json.h"
#include "base/memory.h"
#include "server/mcp/request_state.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct request_state_owner OWNER = {
    .principal = "p", .method = "tools/call", .name = "n"};

static bool is_taken(struct request_states *states, const char *text)
{
    struct error err = ERROR_INIT;
    AUTO_JSON json_t *content = request_state_open(states, &OWNER, text, &err);

    assert((content != NULL) == (err.code == ERROR_NONE));
    return content != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct request_states *states = request_states_new(size % 2 == 0 ? NULL : "a");
    AUTO_JSON json_t *content = json_object();
    AUTO_FREE char *text = memory_format("%.*s", (int)size, (const char *)data);
    struct error err = ERROR_INIT;
    AUTO_FREE char *sealed = request_state_seal(states, &OWNER, content, &err);
    size_t kept = size > 0 ? data[0] % strlen(sealed) : 0;
    AUTO_FREE char *mixed = memory_format("%.*s%s", (int)kept, sealed, text);

    assert(!is_taken(states, text));
    assert(strcmp(mixed, sealed) == 0 || !is_taken(states, mixed));
    assert(is_taken(states, sealed) && !is_taken(states, sealed));
    request_states_free(states);
    return 0;
}
