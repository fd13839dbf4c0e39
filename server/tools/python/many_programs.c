#include "server/tools/python/many_programs.h"

#include "base/buffer.h"
#include "base/json.h"
#include "base/memory.h"
#include "server/tools/code/main_call.h"

#include <string.h>

enum { MANY_PROGRAMS_TEXT_BYTES = 1 << 30 };

/* A person who approves sees what comes before it only. */
static int many_programs_refuse_nul(const json_t *code, struct error *err)
{
    if (strlen(json_string_value(code)) == json_string_length(code))
        return 0;
    return error_set(err, ERROR_INVALID_ARGUMENTS, "the code has a NUL character");
}

/* One program for all inputs. */
static int many_programs_read_code(struct many_programs *programs, const json_t *arguments,
                                   struct error *err)
{
    const json_t *code = json_object_get(arguments, "code");

    programs->inputs = json_object_get(arguments, "inputs");
    if (!code || !programs->inputs)
        return error_set(err, ERROR_INVALID_ARGUMENTS, "give either code and inputs, or programs");
    if (many_programs_refuse_nul(code, err) < 0)
        return -1;
    code_cleaning_do(&programs->code, json_string_value(code), json_string_length(code));
    if (!main_call_is_possible(programs->code.text, programs->code.length))
        return error_set(err, ERROR_INVALID_ARGUMENTS,
                         "code must define main(input), which is called with each of the inputs");
    programs->count = json_array_size(programs->inputs);
    return 0;
}

int many_programs_read(struct many_programs *programs, const json_t *arguments, struct error *err)
{
    const json_t *program;
    size_t i;

    *programs = (struct many_programs){.programs = json_object_get(arguments, "programs")};
    if (!programs->programs)
        return many_programs_read_code(programs, arguments, err);
    if (json_object_get(arguments, "code") || json_object_get(arguments, "inputs"))
        return error_set(err, ERROR_INVALID_ARGUMENTS, "give either code and inputs, or programs");
    json_array_foreach (programs->programs, i, program)
        if (many_programs_refuse_nul(program, err) < 0)
            return -1;
    programs->count = json_array_size(programs->programs);
    return 0;
}

void many_programs_deinit(struct many_programs *programs)
{
    code_cleaning_deinit(&programs->code);
}

static char *many_programs_input(const struct many_programs *programs, size_t index)
{
    return json_dumps(json_array_get(programs->inputs, index), JSON_ENCODE_ANY | JSON_COMPACT);
}

char *many_programs_make(const struct many_programs *programs, size_t index, size_t *ret_length)
{
    const json_t *program = json_array_get(programs->programs, index);
    AUTO_FREE char *input = NULL;

    if (program) {
        *ret_length = json_string_length(program);
        return memcpy(memory_new(*ret_length + 1, 1), json_string_value(program), *ret_length);
    }
    input = many_programs_input(programs, index);
    return main_call_append(programs->code.text, programs->code.length, input, strlen(input),
                            ret_length);
}

static void many_programs_append(struct buffer *text, const char *code)
{
    while (*code) {
        const size_t length = strcspn(code, "\r\n");

        buffer_print(text, "    %.*s\n", (int)length, code);
        code += length + (code[length] != '\0');
    }
}

static void many_programs_append_inputs(struct buffer *text, const struct many_programs *programs)
{
    buffer_print(text, "number of inputs: %zu\nthe program, which runs once for each of them:\n",
                 programs->count);
    many_programs_append(text, programs->code.text);
    for (size_t i = 0; i < programs->count; i++) {
        AUTO_FREE char *input = many_programs_input(programs, i);

        buffer_print(text, "input %zu: %s\n", i, input);
    }
}

char *many_programs_text(const struct many_programs *programs)
{
    struct buffer text;
    char *ret;

    buffer_init(&text, MANY_PROGRAMS_TEXT_BYTES);
    if (programs->inputs)
        many_programs_append_inputs(&text, programs);
    for (size_t i = 0; !programs->inputs && i < programs->count; i++) {
        buffer_print(&text, "program %zu:\n", i);
        many_programs_append(&text, json_string_value(json_array_get(programs->programs, i)));
    }
    ret = memory_format("%.*s", (int)buffer_length(&text), buffer_bytes(&text));
    buffer_deinit(&text);
    return ret;
}
