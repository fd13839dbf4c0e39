#include "server/tools/code/script_block.h"

#include "base/buffer.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/toml_reader.h"
#include "server/tools/code/python_source.h"

#include <stdbool.h>
#include <string.h>

#define SCRIPT_BLOCK_NAME "the script's block (# /// script)"

/* A search for blocks. A text inside a string only shows one: nothing there is a comment. */
struct script_search {
    const char *at;
    const char *end;
    struct python_source strings;
    const char *string; /* a string that does not end before `at`, or NULL */
    const char *string_end;
};

/* A physical line, without its end. */
struct script_line {
    const char *text;
    size_t length;
};

/* The line at *AT, which moves to the next one. */
static struct script_line script_line_next(const char **at, const char *end)
{
    const char *start = *at;
    const char *newline = memchr(start, '\n', (size_t)(end - start));
    const char *stop = newline ? newline : end;

    *at = newline ? newline + 1 : end;
    if (stop > start && stop[-1] == '\r')
        stop--;
    return (struct script_line){start, (size_t)(stop - start)};
}

static bool script_line_is(struct script_line line, const char *text)
{
    return line.length == strlen(text) && memcmp(line.text, text, line.length) == 0;
}

/* "#" alone, or with a blank before the rest. */
static bool script_line_is_content(struct script_line line)
{
    return line.length > 0 && line.text[0] == '#' && (line.length == 1 || line.text[1] == ' ');
}

/* Moves *AT over the comments there. Returns the last "# ///" among them, which ends a block; NULL:
 * there is none. */
static const char *script_block_find_end(const char **at, const char *end)
{
    const char *found = NULL;

    while (*at < end) {
        const char *next = *at;
        const struct script_line line = script_line_next(&next, end);

        if (!script_line_is_content(line))
            break;
        if (script_line_is(line, "# ///"))
            found = line.text;
        *at = next;
    }
    return found;
}

static void script_search_init(struct script_search *search, const char *code, size_t length)
{
    *search = (struct script_search){.at = code, .end = code + length, .string_end = code};
    python_source_init(&search->strings, code, length);
}

/* True when PLACE, which is not before the place of an earlier question, is inside a string. */
static bool script_search_is_in_string(struct script_search *search, const char *place)
{
    while (search->string_end <= place &&
           python_source_next_string(&search->strings, &search->string, &search->string_end))
        ;
    return search->string && search->string < place && place < search->string_end;
}

/* The next block. False: there is none. */
static bool script_block_next(struct script_search *search, struct script_line *ret)
{
    while (search->at < search->end) {
        const struct script_line line = script_line_next(&search->at, search->end);
        const char *start = search->at;
        const char *stop;

        if (!script_line_is(line, "# /// script") || script_search_is_in_string(search, line.text))
            continue;
        stop = script_block_find_end(&search->at, search->end);
        if (!stop || stop == start)
            continue;
        *ret = (struct script_line){start, (size_t)(stop - start)};
        return true;
    }
    return false;
}

/* BLOCK as TOML: without the "# " of each line. */
static json_t *script_block_parse(struct script_line block, struct error *err)
{
    const char *at = block.text;
    const char *end = block.text + block.length;
    struct buffer text;
    json_t *ret;

    buffer_init(&text, block.length + 1);
    while (at < end) {
        const struct script_line line = script_line_next(&at, end);
        const size_t skipped = size_min(line.length, 2);

        (void)buffer_append(&text, line.text + skipped, line.length - skipped, err);
        (void)buffer_append(&text, "\n", 1, err);
    }
    ret = toml_read(buffer_bytes(&text), buffer_length(&text), err);
    buffer_deinit(&text);
    return ret;
}

/* The values have to have the types that the keys want. */
static int script_block_check(const json_t *block, struct error *err)
{
    const json_t *packages = json_object_get(block, "dependencies");
    const json_t *version = json_object_get(block, "requires-python");

    if (packages && !json_is_array(packages))
        return error_set(err, ERROR_INVALID_ARGUMENTS, "dependencies must be an array of strings");
    if (version && !json_is_string(version))
        return error_set(err, ERROR_INVALID_ARGUMENTS, "requires-python must be a string");
    return 0;
}

/* New reference; NULL when BLOCK asks for nothing. */
static json_t *script_block_definition(const json_t *block)
{
    json_t *packages = json_object_get(block, "dependencies");
    json_t *version = json_object_get(block, "requires-python");
    json_t *definition;

    if (json_array_size(packages) == 0 && !version)
        return NULL;
    definition = json_pack("{s:s}", "type", "venv");
    if (json_array_size(packages) > 0)
        json_object_set(definition, "pip_packages", packages);
    if (version)
        json_object_set(definition, "python_version", version);
    return definition;
}

static int script_block_read_one(struct script_line block, json_t **ret, struct error *err)
{
    AUTO_JSON json_t *content = script_block_parse(block, err);

    if (!content || script_block_check(content, err) < 0)
        return error_prefix(err, SCRIPT_BLOCK_NAME);
    *ret = script_block_definition(content);
    return 0;
}

int script_block_read(const char *code, size_t length, json_t **ret, struct error *err)
{
    struct script_search search;
    struct script_line block;
    struct script_line second;

    *ret = NULL;
    script_search_init(&search, code, length);
    if (!script_block_next(&search, &block))
        return 0;
    if (script_block_next(&search, &second))
        return error_set(err, ERROR_INVALID_ARGUMENTS, "%s is there twice", SCRIPT_BLOCK_NAME);
    return script_block_read_one(block, ret, err);
}
