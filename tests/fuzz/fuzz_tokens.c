/* A token file: either there are faults, which do not quote it, or names with tokens of their own.
 * In either case nothing of the text is left. */
#include "base/cleanup.h"
#include "base/memory.h"
#include "server/token_file.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_fault(void *data, const char *message)
{
    assert(strncmp(message, "file:", 5) == 0);
    *(bool *)data = true;
}

static bool is_known(const struct token_file *file, size_t entry)
{
    for (size_t i = 0; i < entry; i++)
        if (token_equals(&file->entries[i].token, &file->entries[entry].token))
            return true;
    return false;
}

static void check_entry(const struct token_file *file, size_t i)
{
    const struct token_file_entry *entry = &file->entries[i];

    assert(token_file_is_name(entry->name));
    assert(!is_known(file, i));
    assert(entry->calls_per_minute <= TOKEN_FILE_MOST_CALLS);
    assert(entry->concurrent_runs <= TOKEN_FILE_MOST_RUNS);
    for (char **name = entry->environments; name && *name; name++)
        assert(**name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_FREE char *text = memory_new(size + 1, 1);
    struct token_file file = {0};
    bool is_faulty = false;
    int status;

    memcpy(text, data, size);
    status = token_file_parse("file", text, size, &file, on_fault, &is_faulty);
    assert((status == 0) == !is_faulty);
    assert((status == 0) == (file.count > 0));
    for (size_t i = 0; i < size; i++)
        assert(text[i] == '\0');
    for (size_t i = 0; i < file.count; i++)
        check_entry(&file, i);
    token_file_deinit(&file);
    return 0;
}
