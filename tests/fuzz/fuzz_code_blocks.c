/* Input: a message. The code of its blocks comes from it, has one kind of line end, and the file
 * names in it lead nowhere else. */
#undef NDEBUG
#include "base/cleanup.h"
#include "base/json.h"
#include "server/tools/code/block_file_name.h"
#include "server/tools/code/message_blocks.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_file_name(const char *code, bool is_loose)
{
    struct error err = ERROR_INIT;
    AUTO_FREE char *name = NULL;

    if (block_file_name_read(code, is_loose, &name, &err) < 0 || !name)
        return;
    assert(*name && *name != '/');
    assert(strcmp(name, "..") != 0 && strncmp(name, "../", 3) != 0 && !strstr(name, "/../"));
    assert(strstr(code, name));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_JSON json_t *blocks = message_blocks_read((const char *)data, size);
    size_t i;
    const json_t *block;

    json_array_foreach (blocks, i, block) {
        const char *code = json_object_get_string(block, "code");

        assert(!strpbrk(json_object_get_string(block, "language"), " \t\r\n"));
        assert(!strchr(code, '\r'));
        check_file_name(code, false);
        check_file_name(code, true);
    }
    return 0;
}
