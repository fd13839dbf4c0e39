/* The bare expression at the end of a script that shows nothing, a habit from notebooks.
 *
 * The rule: the expression makes no call, or only calls of the functions and methods that are named
 * here, which give a value and do nothing else. Of any other call nobody knows whether its value is
 * wanted: main(), os.makedirs("a"), figure.savefig("a.png"). */
#include "base/ascii.h"
#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"
#include "server/tools/code/python_source.h"
#include "server/tools/hints/hint_table.h"

#include <string.h>

/* A part of the code. */
struct hint_word {
    const char *text;
    size_t length;
};

static bool hint_word_is_in(struct hint_word word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(words[i]) == word.length && memcmp(words[i], word.text, word.length) == 0)
            return true;
    return false;
}

/* A bracket behind an operator is no call. */
static bool hint_is_operator(struct hint_word word)
{
    static const char *const words[] = {"and", "else", "for", "if", "in", "is", "not", "or"};

    return hint_word_is_in(word, words, ARRAY_SIZE(words));
}

static bool hint_is_pure_function(struct hint_word word)
{
    static const char *const words[] = {
        "abs",  "all",        "any", "bool",   "dict", "divmod", "float", "hex",
        "int",  "isinstance", "len", "list",   "max",  "min",    "pow",   "range",
        "repr", "round",      "set", "sorted", "str",  "sum",    "tuple", "type",
    };

    return hint_word_is_in(word, words, ARRAY_SIZE(words));
}

/* Of strings, dictionaries and tables; no module has a function of such a name that acts. */
static bool hint_is_pure_method(struct hint_word word)
{
    static const char *const words[] = {
        "corr",   "count",   "cumsum",   "describe",     "groupby", "head", "isna",
        "isnull", "items",   "keys",     "lower",        "max",     "mean", "median",
        "min",    "nunique", "quantile", "std",          "strip",   "sum",  "tail",
        "tolist", "unique",  "upper",    "value_counts", "values",  "var",
    };

    return hint_word_is_in(word, words, ARRAY_SIZE(words));
}

/* The name or number that ends at END, in the text from START on; its length may be 0. */
static struct hint_word hint_last_word(const char *start, const char *end)
{
    const char *text = end;

    while (text > start && (ascii_is_digit(text[-1]) || python_name_length(text - 1, text) > 0))
        text--;
    return (struct hint_word){text, (size_t)(end - text)};
}

/* True for the bracket at AT, when it begins no call, or a known one. The text begins at START. */
static bool hint_is_pure_bracket(const char *start, const char *at)
{
    struct hint_word word;
    const char *end = at;

    while (end > start && strchr(" \t\r\n\\", end[-1]))
        end--;
    word = hint_last_word(start, end);
    if (word.length == 0)
        return end == start || !strchr(")]}\"'", end[-1]);
    if (word.text > start && word.text[-1] == '.')
        return hint_is_pure_method(word);
    return hint_is_operator(word) || hint_is_pure_function(word);
}

/* Behind the string that begins at AT. */
static const char *hint_skip_string(const char *at, const char *end)
{
    const char quote = *at;
    const size_t quotes = end - at >= 3 && at[1] == quote && at[2] == quote ? 3 : 1;

    at += quotes;
    while (at < end) {
        if ((size_t)(end - at) >= quotes && *at == quote &&
            (quotes == 1 || (at[1] == quote && at[2] == quote)))
            return at + quotes;
        at += *at == '\\' ? 2 : 1;
    }
    return end;
}

/* "x := 1" defines a name, and "a >> b" connects things in some libraries. */
static bool hint_is_acting(const char *at, const char *end)
{
    return end - at >= 2 &&
           (memcmp(at, ":=", 2) == 0 || memcmp(at, ">>", 2) == 0 || memcmp(at, "<<", 2) == 0);
}

/* True when the value of LINE is all that it gives. */
static bool hint_is_pure(const struct python_line *line)
{
    const char *end = line->text + line->length;
    const char *at = line->text;

    while (at < end) {
        if (hint_is_acting(at, end) || (*at == '(' && !hint_is_pure_bracket(line->text, at)))
            return false;
        at = *at == '"' || *at == '\'' ? hint_skip_string(at, end) : at + 1;
    }
    return true;
}

static bool hint_is_statement(const struct python_line *line)
{
    static const char *const words[] = {
        "import", "from",  "pass",  "del",   "assert",   "global", "nonlocal", "raise",
        "return", "yield", "await", "break", "continue", "print",  "exit",     "quit",
    };

    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (python_line_begins(line, words[i]))
            return true;
    return line->length == 0 || *line->text == '@' || line->mark != NULL;
}
/* A long string is a comment, and "..." stands for nothing. */
static bool hint_is_empty_value(const struct python_line *line)
{
    return (line->length >= 3 &&
            (memcmp(line->text, "\"\"\"", 3) == 0 || memcmp(line->text, "'''", 3) == 0 ||
             memcmp(line->text, "...", 3) == 0)) ||
           (line->length == 4 && memcmp(line->text, "None", 4) == 0);
}

/* Finds the last logical line, which is no part of a block. */
static bool hint_find_last_line(const struct hint_facts *facts, struct python_line *ret)
{
    struct python_source source;
    struct python_line line;
    bool is_found = false;

    python_source_init(&source, facts->code->text, facts->code->length);
    while (python_source_next(&source, &line)) {
        *ret = line;
        is_found = true;
    }
    return is_found && !source.is_lost && ret->indent == 0 && !ret->stop;
}

char *hint_bare_expression(const struct hint_facts *facts)
{
    struct python_line line;

    if (!facts->is_silent || json_array_size(facts->run->files) > 0 || !facts->run->is_success ||
        !hint_find_last_line(facts, &line) || hint_is_statement(&line) ||
        hint_is_empty_value(&line) || !hint_is_pure(&line))
        return NULL;
    return memory_format(
        "Line %u is a bare expression, whose value is not shown. If you want to see "
        "it, print() it.",
        line.number);
}
