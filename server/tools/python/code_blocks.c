#include "server/tools/python/code_blocks.h"

#include "base/buffer.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/visible.h"
#include "server/tools/code/block_file_name.h"
#include "server/tools/code/block_language.h"
#include "server/tools/code/code_cleaning.h"
#include "server/tools/code/message_blocks.h"

#include <stdlib.h>
#include <string.h>

#define CODE_BLOCKS_SCRIPT "script.py" /* the file of a Python block, whatever its own name */

enum {
    CODE_BLOCKS_TEXT_BYTES = 1 << 30,
    LANGUAGE_BYTES = 40,
};

/* New reference. */
static json_t *code_blocks_given(const json_t *arguments, struct error *err)
{
    json_t *blocks = json_object_get(arguments, "blocks");
    const json_t *message = json_object_get(arguments, "message");

    if (!blocks == !message) {
        error_set(err, ERROR_INVALID_ARGUMENTS, "give either blocks or message");
        return NULL;
    }
    if (blocks)
        return json_incref(blocks);
    if (json_string_length(message) > CODE_BLOCKS_MESSAGE_BYTES) {
        error_set(err, ERROR_INVALID_ARGUMENTS, "message is %zu bytes, the limit is %d",
                  json_string_length(message), CODE_BLOCKS_MESSAGE_BYTES);
        return NULL;
    }
    return message_blocks_read(json_string_value(message), json_string_length(message));
}

/* Applies RULES to BLOCK: run, save or refuse its language. */
static int code_block_settle(struct code_block *block, const json_t *rules, struct error *err)
{
    const char *rule = json_object_get_string(rules, block->language->name);

    if (strcmp(rule, "refuse") == 0)
        return error_set(err, ERROR_INVALID_ARGUMENTS, "the operator does not allow %s",
                         block->language->name);
    block->is_run = strcmp(rule, "run") == 0;
    return 0;
}

static bool code_block_is_program(const struct code_block *block)
{
    return block->is_run && strcmp(block->language->name, "python") == 0;
}

static int code_block_name(struct code_block *block, const json_t *rules, struct error *err)
{
    const char *form = json_object_get_string(rules, "file_names");

    if (block_file_name_read(block->code, strcmp(form, "comment") == 0, &block->file, err) < 0)
        return -1;
    if (code_block_is_program(block))
        return 0;
    if (!block->file)
        block->file = memory_format("block-%zu.%s", block->number, block->language->extension);
    if (strcmp(block->file, CODE_BLOCKS_SCRIPT) == 0)
        return error_set(err, ERROR_INVALID_ARGUMENTS,
                         CODE_BLOCKS_SCRIPT " is the program that runs; use another name");
    return 0;
}

static int code_block_find_language(struct code_block *block, const char *language,
                                    struct error *err)
{
    AUTO_FREE char *known = NULL;
    AUTO_FREE char *shown = NULL;

    block->language =
        language && *language ? block_language_find(language) : block_language_infer(block->code);
    if (block->language || !language)
        return 0;
    known = block_language_list();
    shown = visible_line(language, strlen(language), LANGUAGE_BYTES);
    return error_set(err, ERROR_INVALID_ARGUMENTS,
                     "unknown language %s; there are %s, and of a message other blocks are passed "
                     "over",
                     shown, known);
}

static int code_block_read(struct code_block *block, const json_t *given, const json_t *rules,
                           struct error *err)
{
    const json_t *code = json_object_get(given, "code");

    block->code = json_string_value(code);
    block->length = json_string_length(code);
    if (strlen(block->code) != block->length)
        return error_set(err, ERROR_INVALID_ARGUMENTS, "the code has a NUL character");
    if (code_block_find_language(block, json_object_get_string(given, "language"), err) < 0 ||
        code_block_settle(block, rules, err) < 0)
        return -1;
    return code_block_name(block, rules, err);
}

/* A message has blocks that only show something, such as the output that is expected. */
static bool code_blocks_passes_over(const json_t *given, bool is_message)
{
    const char *language = json_object_get_string(given, "language");

    return is_message && language && *language && !block_language_find(language);
}

static int code_blocks_read_all(struct code_blocks *blocks, bool is_message, const json_t *rules,
                                struct error *err)
{
    const json_t *given;
    size_t i;

    json_array_foreach (blocks->given, i, given) {
        if (code_blocks_passes_over(given, is_message))
            continue;
        if (blocks->count == CODE_BLOCKS_MOST)
            return error_set(err, ERROR_INVALID_ARGUMENTS,
                             "there are more than %d code blocks; send them in several calls",
                             CODE_BLOCKS_MOST);
        blocks->blocks[blocks->count].number = i + 1;
        if (code_block_read(&blocks->blocks[blocks->count++], given, rules, err) < 0)
            return error_prefix(err, "block %zu", i + 1);
    }
    if (blocks->count == 0)
        return error_set(err, ERROR_INVALID_ARGUMENTS,
                         "there are no code blocks; send some as ```python or ```sh fences");
    return 0;
}

int code_blocks_read(struct code_blocks *blocks, const json_t *arguments, const json_t *rules,
                     struct error *err)
{
    *blocks = (struct code_blocks){.given = code_blocks_given(arguments, err)};
    if (!blocks->given)
        return -1;
    blocks->blocks = memory_new(CODE_BLOCKS_MOST, sizeof *blocks->blocks);
    return code_blocks_read_all(blocks, json_object_get(arguments, "message") != NULL, rules, err);
}

void code_blocks_deinit(struct code_blocks *blocks)
{
    for (size_t i = 0; i < blocks->count; i++)
        free(blocks->blocks[i].file);
    free(blocks->blocks);
    json_decref(blocks->given);
}

static void code_block_append(struct buffer *text, const struct code_block *block)
{
    const char *line = block->code;

    buffer_print(text, "block %zu: %s%s%s%s\n", block->number, block->language->name,
                 block->is_run ? "" : ", not run", block->file ? ", " : "",
                 block->file ? block->file : "");
    while (*line) {
        const size_t length = strcspn(line, "\r\n");

        buffer_print(text, "    %.*s\n", (int)length, line);
        line += length + (line[length] != '\0');
    }
}

char *code_blocks_text(const struct code_blocks *blocks)
{
    struct buffer text;
    char *ret;

    buffer_init(&text, CODE_BLOCKS_TEXT_BYTES);
    for (size_t i = 0; i < blocks->count; i++)
        code_block_append(&text, &blocks->blocks[i]);
    ret = memory_format("%.*s", (int)buffer_length(&text), buffer_bytes(&text));
    buffer_deinit(&text);
    return ret;
}

json_t *code_block_file(const struct code_block *block)
{
    if (!block->file || strcmp(block->file, CODE_BLOCKS_SCRIPT) == 0)
        return NULL;
    return json_pack("{s:s, s:s%}", "path", block->file, "text", block->code, block->length);
}

/* A name in JSON is a string of Python, too. Python ignores two signals that other programs do
 * not. */
static char *code_block_launcher(const struct code_block *block)
{
    AUTO_JSON json_t *file =
        json_string_format("%s%s", *block->file == '-' ? "./" : "", block->file);
    AUTO_FREE char *name = json_dumps(file, JSON_ENCODE_ANY);
    const char *program = block->language->program;

    return memory_format("import os, signal, sys\n"
                         "signal.signal(signal.SIGPIPE, signal.SIG_DFL)\n"
                         "signal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n"
                         "try:\n"
                         "    os.execvp(\"%s\", [\"%s\", %s])\n"
                         "except FileNotFoundError:\n"
                         "    sys.exit(\"there is no %s in this environment\")\n",
                         program, program, name, program);
}

char *code_block_program(const struct code_block *block)
{
    if (!block->is_run)
        return memory_copy_string("pass\n"); /* the file of a saved block is put there before */
    if (code_block_is_program(block))
        return memory_copy_string(block->code);
    return code_block_launcher(block);
}

struct code_cleaning code_block_python(const struct code_block *block,
                                       const struct code_cleaning *ran)
{
    return code_block_is_program(block) ? *ran : (struct code_cleaning){.text = ""};
}
