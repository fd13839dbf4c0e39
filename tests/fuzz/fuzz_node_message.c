/* JSON that comes over the wire of a node, read as each of its messages. A request that is read has
 * what an execution needs; what was written of an end is read as the same. */
#undef NDEBUG
#include "base/json.h"
#include "environments/nodes/node_message.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_request(const char *data, size_t size)
{
    struct node_request request;

    if (node_request_read(&request, json_loadb(data, size, JSON_DECODE_ANY, NULL)))
        assert(request.request.directory[0] == '/' && request.request.owner);
    node_request_deinit(&request);
}

static void read_end(json_t *message)
{
    struct process_end end;
    struct process_end again;
    json_t *written;

    node_end_read(&end, message, NULL);
    written = node_end_write(&end);
    node_end_read(&again, written, NULL);
    assert(again.returncode == end.returncode && again.leftovers == end.leftovers);
    assert(again.receipt.layers == end.receipt.layers);
    assert(strlen(again.failure) < sizeof again.failure);
    json_decref(written);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    json_t *message = json_loadb(text, size, JSON_DECODE_ANY, NULL);
    struct node_facts facts = {0};
    struct process_usage usage;
    json_t *node = json_string("far");

    read_request(text, size);
    read_end(message);
    (void)node_usage_read(&usage, message);
    node_facts_read(&facts, message, node);
    node_facts_deinit(&facts);
    json_decref(node);
    json_decref(message);
    return 0;
}
