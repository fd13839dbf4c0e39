#include "server/tools/code/python_source.h"

#include "base/ascii.h"

#include <string.h>

void python_source_init(struct python_source *source, const char *code, size_t length)
{
    *source = (struct python_source){.at = code, .end = code + length, .number = 1};
}

static bool python_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\f' || c == '\r';
}

static char python_source_peek(const struct python_source *source, size_t ahead)
{
    return (size_t)(source->end - source->at) > ahead ? source->at[ahead] : '\0';
}

static void python_source_step(struct python_source *source)
{
    if (*source->at == '\n')
        source->number++;
    source->at++;
}

/* Moves over a character, and if it is a backslash, over what it keeps from having a meaning: the
 * next character, or the end of the line. */
static void python_source_step_escaped(struct python_source *source)
{
    if (*source->at == '\\' && source->at + 1 < source->end) {
        python_source_step(source);
        if (*source->at == '\r' && python_source_peek(source, 1) == '\n')
            python_source_step(source);
    }
    python_source_step(source);
}

static void python_source_skip_comment(struct python_source *source)
{
    const char *end = memchr(source->at, '\n', (size_t)(source->end - source->at));

    source->at = end ? end : source->end;
}

/* Moves over a string, which begins here. A backslash keeps the next character from ending it, in a
 * raw one too. */
static void python_source_skip_string(struct python_source *source)
{
    const char quote = *source->at;
    const bool is_long =
        python_source_peek(source, 1) == quote && python_source_peek(source, 2) == quote;
    const size_t quotes = is_long ? 3 : 1;

    source->at += quotes;
    while (source->at < source->end) {
        if (*source->at == quote && (!is_long || (python_source_peek(source, 1) == quote &&
                                                  python_source_peek(source, 2) == quote))) {
            source->at += quotes;
            return;
        }
        if (*source->at == '\n' && !is_long)
            break;
        python_source_step_escaped(source);
    }
    source->is_lost = true;
}

/* Moves over a comment or a character of code. */
static void python_source_pass(struct python_source *source)
{
    if (*source->at == '#') {
        python_source_skip_comment(source);
        return;
    }
    python_source_step_escaped(source);
}

bool python_source_next_string(struct python_source *source, const char **ret_start,
                               const char **ret_end)
{
    while (source->at < source->end) {
        const char *start = source->at;

        if (*start != '\'' && *start != '"') {
            python_source_pass(source);
            continue;
        }
        source->is_lost = false;
        python_source_skip_string(source);
        if (source->is_lost)
            continue;
        *ret_start = start;
        *ret_end = source->at;
        return true;
    }
    return false;
}

/* Moves to the first character of a line that is not blank. */
static bool python_source_begin(struct python_source *source, struct python_line *ret)
{
    while (source->at < source->end) {
        const char *start = source->at;

        while (source->at < source->end && python_is_blank(*source->at))
            source->at++;
        if (python_source_peek(source, 0) == '#')
            python_source_skip_comment(source);
        if (source->at < source->end && *source->at != '\n') {
            *ret = (struct python_line){
                .text = source->at,
                .number = source->number,
                .indent = (size_t)(source->at - start),
            };
            return true;
        }
        if (source->at < source->end)
            python_source_step(source);
    }
    return false;
}

/* Whether the "=" here is half of a comparison: ==, !=, <= or >=. "<<=" and ">>=" are not. */
static bool python_source_is_comparison(const struct python_source *source,
                                        const struct python_line *line)
{
    const char *at = source->at;
    const char before = at > line->text ? at[-1] : '\0';

    if (python_source_peek(source, 1) == '=' || before == '=' || before == '!')
        return true;
    return (before == '<' || before == '>') && !(at - 1 > line->text && at[-2] == before);
}

/* Notes the character here, which stands outside of brackets and strings. */
static void python_source_note(const struct python_source *source, struct python_line *line)
{
    if (*source->at == ';')
        line->stop = source->at;
    if (line->mark)
        return;
    if (*source->at == ':' || (*source->at == '=' && !python_source_is_comparison(source, line)))
        line->mark = source->at;
}

/* The change of depth that a character makes. */
static int python_source_depth(char c)
{
    if (c == '(' || c == '[' || c == '{')
        return 1;
    return c == ')' || c == ']' || c == '}' ? -1 : 0;
}

/* Moves to the end of LINE. */
static void python_source_finish(struct python_source *source, struct python_line *line)
{
    const char *last = source->at; /* behind the last character that is not blank */
    int depth = 0;

    while (source->at < source->end && (*source->at != '\n' || depth > 0)) {
        const char c = *source->at;

        depth += python_source_depth(c);
        if (depth < 0)
            source->is_lost = true;
        if (depth == 0)
            python_source_note(source, line);
        if (c == '\'' || c == '"')
            python_source_skip_string(source);
        else
            python_source_pass(source);
        if (!python_is_blank(c) && c != '\n' && c != '#')
            last = source->at;
    }
    if (depth > 0)
        source->is_lost = true;
    line->length = (size_t)(last - line->text);
}

bool python_source_next(struct python_source *source, struct python_line *ret)
{
    if (!python_source_begin(source, ret))
        return false;
    python_source_finish(source, ret);
    return true;
}

static bool python_is_name(char c, bool is_first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80) ||
           (!is_first && ascii_is_digit(c));
}

size_t python_name_length(const char *text, const char *end)
{
    const char *at = text;

    while (at < end && python_is_name(*at, at == text))
        at++;
    return (size_t)(at - text);
}

bool python_line_begins(const struct python_line *line, const char *word)
{
    const size_t length = strlen(word);

    return python_name_length(line->text, line->text + line->length) == length &&
           memcmp(line->text, word, length) == 0;
}

/* True when WORDS are at the place that SOURCE has come to. */
static bool python_source_is_at(const struct python_source *source, const char *code,
                                const char *words)
{
    const size_t length = strlen(words);

    return (size_t)(source->end - source->at) >= length && memcmp(source->at, words, length) == 0 &&
           (!python_is_name(*words, false) || source->at == code ||
            !python_is_name(source->at[-1], false));
}

bool python_source_has(const char *code, size_t length, const char *words)
{
    struct python_source source;

    python_source_init(&source, code, length);
    while (source.at < source.end && !python_source_is_at(&source, code, words))
        if (*source.at == '#')
            python_source_skip_comment(&source);
        else if (*source.at == '\'' || *source.at == '"')
            python_source_skip_string(&source);
        else
            python_source_step(&source);
    return source.at < source.end;
}
