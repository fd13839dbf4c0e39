/* JSON that comes over the wire of a node, read as each of its messages. A request that is read has
 * what an execution needs; what was written of an end is read as the same. */
#undef NDEBUG
#include "base/json.h"
#include "environments/nodes/node_entry.h"
#include "environments/nodes/node_message.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
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

/* An entry that is read is one below the directory, and is written as it was. */
static void read_entry(const char *data, size_t size)
{
    char *copy = calloc(size + 1, 1);
    char written[NODE_ENTRY_BYTES];
    struct error err = ERROR_INIT;
    struct node_entry entry;

    memcpy(copy, data, size);
    if (size >= NODE_ENTRY_HEAD_BYTES + 2 && node_entry_read(&entry, copy, size, &err) == 0) {
        assert(*entry.path != '/' && strncmp(entry.path, "../", 3) != 0);
        assert(!strstr(entry.path, "/../"));
        assert(node_entry_write(written, &entry) == size);
        assert(strcmp(written + NODE_ENTRY_HEAD_BYTES, entry.path) == 0);
    }
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    json_t *message = json_loadb(text, size, JSON_DECODE_ANY, NULL);
    struct node_facts facts = {0};
    struct process_usage usage;
    struct node_skips skips;
    json_t *node = json_string("far");

    read_entry(text, size);
    read_request(text, size);
    read_end(message);
    (void)node_usage_read(&usage, message);
    node_skips_read(&skips, message);
    assert(skips.named <= skips.count && strlen(skips.names) < sizeof skips.names);
    node_facts_read(&facts, message, node);
    node_facts_deinit(&facts);
    json_decref(node);
    json_decref(message);
    return 0;
}
