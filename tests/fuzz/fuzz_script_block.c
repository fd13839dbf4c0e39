/* Input: a script. What its block asks for are strings, and asked in a block of our own they are
 * the same; cleaning, splitting into lines, taking out lines that install and listing what it
 * defines and imports end inside of the text. */
#undef NDEBUG
#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "server/tools/code/code_cleaning.h"
#include "server/tools/code/function_list.h"
#include "server/tools/code/import_names.h"
#include "server/tools/code/pip_line.h"
#include "server/tools/code/python_source.h"
#include "server/tools/code/script_block.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_lines(const char *code, size_t length)
{
    struct python_source source;
    struct python_line line;
    const char *behind = code;

    python_source_init(&source, code, length);
    while (python_source_next(&source, &line)) {
        assert(line.text >= behind && line.length > 0);
        behind = line.text + line.length;
        assert(behind <= code + length);
        assert(!line.stop || (line.stop >= line.text && line.stop < behind));
        assert(!line.mark || (line.mark >= line.text && line.mark < behind));
    }
}

static size_t count_lines(const char *code, size_t length)
{
    size_t count = 0;

    for (size_t i = 0; i < length; i++)
        count += code[i] == '\n';
    return count;
}

/* Lines keep their numbers, and what is clean is clean. */
static void check_cleaning(const char *code, size_t length)
{
    struct code_cleaning cleaned;
    struct code_cleaning again;

    code_cleaning_do(&cleaned, code, length);
    assert(cleaned.length <= length + strlen("utf-8"));
    assert(cleaned.text[cleaned.length] == '\0' || cleaned.text == code);
    if (cleaned.copy) {
        assert(cleaned.copy[cleaned.length] == '\0');
        assert(count_lines(cleaned.copy, cleaned.length) <= count_lines(code, length));
        code_cleaning_do(&again, cleaned.copy, cleaned.length);
        assert(again.had_fence || !again.had_magic);
        code_cleaning_deinit(&again);
    }
    code_cleaning_deinit(&cleaned);
}

/* Lines that install are taken whole, and once. */
static void check_packages(char *code, size_t length)
{
    const size_t lines = count_lines(code, length);
    struct error err = ERROR_INIT;
    json_t *packages;

    if (pip_lines_read(code, length, &packages, &err) < 0) {
        assert(!packages && *err.message);
        return;
    }
    if (!packages)
        return;
    assert(json_array_size(packages) > 0);
    json_decref(packages);
    pip_lines_blank(code, length);
    assert(count_lines(code, length) == lines);
    assert(pip_lines_read(code, length, &packages, &err) == 0 && !packages);
}

/* JSON's arrays of strings are TOML's, but for a slash, which jansson leaves alone. */
static void check_block(const json_t *definition)
{
    json_t *packages = json_object_get(definition, "pip_packages");
    AUTO_FREE char *text = json_text(packages);
    AUTO_FREE char *code = memory_format("# /// script\n# dependencies = %s\n# ///\n", text);
    AUTO_JSON json_t *again = NULL;
    struct error err = ERROR_INIT;

    if (!packages || strstr(text, "\\u0000"))
        return;
    assert(script_block_read(code, strlen(code), &again, &err) == 0);
    assert(json_equal(json_object_get(again, "pip_packages"), packages));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_FREE char *code = memory_format("%.*s", (int)size, (const char *)data);
    const size_t length = strlen(code);
    AUTO_JSON json_t *definition = NULL;
    AUTO_JSON json_t *imports = import_names_read(code, length);
    AUTO_FREE char *functions = function_list(code, length);
    struct error err = ERROR_INIT;

    assert(json_is_array(imports) && functions);
    check_lines(code, length);
    check_cleaning(code, length);
    if (script_block_read(code, length, &definition, &err) == 0 && definition)
        check_block(definition);
    check_packages(code, length);
    return 0;
}
