/* What is accepted as a result of a tool has blocks that each revision can carry. */
#include "base/cleanup.h"
#include "base/json.h"
#include "server/mcp/foreign_result.h"
#include "server/mcp/result.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_carried(const json_t *content, enum mcp_version version)
{
    AUTO_JSON json_t *carried = result_content(content, version);
    const json_t *block;
    size_t i;

    free(json_text(carried));
    if (json_array_size(carried) != json_array_size(content))
        abort();
    json_array_foreach (carried, i, block)
        if (!json_object_get_string(block, "type"))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_JSON json_t *result = json_loadb((const char *)data, size, JSON_ALLOW_NUL, NULL);
    const json_t *content = json_object_get(result, "content");

    if (!foreign_result_is_right(result))
        return 0;
    for (enum mcp_version version = MCP_2024_11_05; version <= MCP_2026_07_28; version++)
        check_carried(content, version);
    return 0;
}
