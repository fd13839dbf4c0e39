#include "server/tools/code/code_cleaning.h"

#include "base/coding_line.h"
#include "base/memory.h"
#include "server/tools/code/code_fence.h"
#include "server/tools/code/pip_line.h"
#include "server/tools/code/python_source.h"

#include <stdlib.h>
#include <string.h>

static bool code_cleaning_is_magic(const struct python_line *line)
{
    static const char *const magic[] = {"%matplotlib", "%config InlineBackend"};

    for (size_t i = 0; i < ARRAY_SIZE(magic); i++)
        if (line->length >= strlen(magic[i]) && memcmp(line->text, magic[i], strlen(magic[i])) == 0)
            return line->indent == 0 && !memchr(line->text, '\n', line->length);
    return false;
}

/* Moves to the next line of magic. */
static bool code_cleaning_next(struct python_source *source, struct python_line *ret)
{
    while (python_source_next(source, ret))
        if (code_cleaning_is_magic(ret))
            return true;
    return false;
}

/* False where a string or a bracket is not closed: then a line may be a part of it. */
static bool code_cleaning_has_magic(const char *code, size_t length)
{
    struct python_source source;
    struct python_line line;
    bool is_found = false;

    python_source_init(&source, code, length);
    while (code_cleaning_next(&source, &line))
        is_found = true;
    return is_found && !source.is_lost;
}

static void code_cleaning_blank_magic(char *code, size_t length)
{
    struct python_source source;
    struct python_line line;

    python_source_init(&source, code, length);
    while (code_cleaning_next(&source, &line))
        memset(code + (line.text - code), ' ', line.length);
}

static char *code_cleaning_copy(const char *code, size_t length)
{
    char *copy = memory_new(length + 1, 1);

    memcpy(copy, code, length);
    return copy;
}

/* A mark of a file in UTF-8, which is no character of the code. */
static size_t code_cleaning_mark(const char *code, size_t length)
{
    static const char mark[] = "\xEF\xBB\xBF";

    return length >= strlen(mark) && memcmp(code, mark, strlen(mark)) == 0 ? strlen(mark) : 0;
}

/* Makes the text a copy that may be changed. */
static void code_cleaning_own(struct code_cleaning *cleaning)
{
    if (!cleaning->copy)
        cleaning->copy = code_cleaning_copy(cleaning->text, cleaning->length);
    cleaning->text = cleaning->copy;
}

static void code_cleaning_do_magic(struct code_cleaning *cleaning)
{
    cleaning->had_magic = code_cleaning_has_magic(cleaning->text, cleaning->length);
    if (!cleaning->had_magic)
        return;
    code_cleaning_own(cleaning);
    code_cleaning_blank_magic(cleaning->copy, cleaning->length);
}

void code_cleaning_take_packages(struct code_cleaning *cleaning)
{
    code_cleaning_own(cleaning);
    pip_lines_blank(cleaning->copy, cleaning->length);
}

static void code_cleaning_do_coding(struct code_cleaning *cleaning)
{
    char *correct = coding_line_correct(cleaning->text, cleaning->length, &cleaning->length);

    if (!correct)
        return;
    free(cleaning->copy);
    cleaning->copy = correct;
    cleaning->text = correct;
}

void code_cleaning_do(struct code_cleaning *ret, const char *code, size_t length)
{
    const size_t mark = code_cleaning_mark(code, length);

    *ret = (struct code_cleaning){.text = code + mark, .length = length - mark};
    ret->copy = code_fence_remove(ret->text, ret->length, &ret->length);
    ret->had_fence = ret->copy != NULL;
    if (ret->copy)
        ret->text = ret->copy;
    code_cleaning_do_magic(ret);
    code_cleaning_do_coding(ret);
}

void code_cleaning_deinit(struct code_cleaning *cleaning)
{
    free(cleaning->copy);
    *cleaning = (struct code_cleaning){0};
}
