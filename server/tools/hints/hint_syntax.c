#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "server/tools/code/pip_line.h"
#include "server/tools/code/python_source.h"
#include "server/tools/hints/hint_table.h"
#include "server/tools/hints/package_advice.h"

#include <string.h>

enum { HINT_PACKAGES_MOST = 50 }; /* more are no list that a model would write again */

/* Finds the line at which Python has met an error of syntax. False: there is no such error, or no
 * statement begins there. */
static bool hint_find_error_line(const struct hint_facts *facts, struct python_line *ret)
{
    struct python_source source;

    if (!hint_is_about(facts, "SyntaxError") || !facts->failure.is_own)
        return false;
    python_source_init(&source, facts->code->text, facts->code->length);
    while (python_source_next(&source, ret))
        if (ret->number >= facts->failure.line)
            return ret->number == facts->failure.line;
    return false;
}

static bool hint_line_starts_with(const struct python_line *line, const char *text)
{
    return line->length >= strlen(text) && memcmp(line->text, text, strlen(text)) == 0;
}

char *hint_removed_fence(const struct hint_facts *facts)
{
    if (!facts->code->had_fence)
        return NULL;
    return memory_copy_string(
        "The code came in a Markdown fence (```), which was removed. Send the "
        "code alone.");
}

char *hint_removed_magic(const struct hint_facts *facts)
{
    if (!facts->code->had_magic)
        return NULL;
    return memory_copy_string("This is not a notebook: what began with % was left out.");
}

char *hint_fence(const struct hint_facts *facts)
{
    struct python_line line;

    if (!hint_find_error_line(facts, &line) || !hint_line_starts_with(&line, "```"))
        return NULL;
    return memory_format("Line %u is a Markdown fence (```), not Python. Send the code alone, "
                         "without fences and text around it.",
                         line.number);
}

char *hint_pip_command(const struct hint_facts *facts)
{
    struct python_line line;
    AUTO_JSON json_t *packages = NULL;
    AUTO_FREE char *advice = NULL;

    if (!hint_find_error_line(facts, &line) || !pip_line_read(&line, &packages))
        return NULL;
    advice =
        package_advice(facts, json_array_size(packages) <= HINT_PACKAGES_MOST ? packages : NULL);
    return memory_format("Line %u is a command of %s, not Python. Leave it out. %s", line.number,
                         strchr("!%", *line.text) ? "notebooks" : "a shell", advice);
}

char *hint_shell_command(const struct hint_facts *facts)
{
    AUTO_JSON json_t *packages = NULL;
    struct python_line line;

    if (!hint_find_error_line(facts, &line) || *line.text != '!' || pip_line_read(&line, &packages))
        return NULL;
    return memory_format("Line %u is a shell command as in notebooks, not Python. Use "
                         "subprocess.run(\"COMMAND\", shell=True).",
                         line.number);
}

char *hint_magic(const struct hint_facts *facts)
{
    AUTO_JSON json_t *packages = NULL;
    struct python_line line;

    if (!hint_find_error_line(facts, &line) || *line.text != '%' || pip_line_read(&line, &packages))
        return NULL;
    return memory_format("Line %u is a magic command of IPython, not Python. Leave it out.",
                         line.number);
}

char *hint_await(const struct hint_facts *facts)
{
    static const char *const messages[] = {
        "'await' outside",
        "'async with' outside",
        "'async for' outside",
        "asynchronous comprehension outside",
    };

    if (!hint_is_about(facts, "SyntaxError") || !facts->failure.is_own)
        return NULL;
    for (size_t i = 0; i < ARRAY_SIZE(messages); i++)
        if (text_starts_with(facts->failure.message, messages[i]))
            return memory_format("A script has no event loop of its own. Put line %u into `async "
                                 "def main():` and end the script with `import asyncio; "
                                 "asyncio.run(main())`.",
                                 facts->failure.line);
    return NULL;
}

/* The number of the first line that begins a fence, and is in no long string; 0: there is none. */
static unsigned hint_find_fence(const struct hint_facts *facts)
{
    const char *line = facts->code->text;

    for (unsigned number = 1; *line; number++) {
        const char *end = strchrnul(line, '\n');

        if (text_starts_with(line, "```"))
            return number;
        if (memmem(line, (size_t)(end - line), "\"\"\"", 3) ||
            memmem(line, (size_t)(end - line), "'''", 3))
            return 0;
        line = *end ? end + 1 : end;
    }
    return 0;
}

/* Text before a fence. */
char *hint_prose(const struct hint_facts *facts)
{
    const unsigned fence = hint_find_fence(facts);

    if (!hint_is_about(facts, "SyntaxError") || !facts->failure.is_own ||
        facts->failure.line >= fence)
        return NULL;
    return memory_format("Line %u is text, not Python: the code begins behind the fence (```) in "
                         "line %u. Send the code alone.",
                         facts->failure.line, fence);
}

/* A backslash outside of a string, with a letter or a quote behind it. */
char *hint_escaped(const struct hint_facts *facts)
{
    const char *text = facts->code->text;
    const char *line_end = strchr(text, '\n');

    if (!hint_is_about(facts, "SyntaxError") || !facts->failure.is_own ||
        !text_starts_with(facts->failure.message, "unexpected character after line continuation"))
        return NULL;
    if (!line_end && strstr(text, "\\n"))
        return memory_copy_string("The code is one line with \\n in it: it was escaped twice. Send "
                                  "real line ends.");
    if (strstr(text, "\\\""))
        return memory_format(
            "Line %u has a backslash outside of a string. If it is \\\", the code was "
            "escaped twice: send plain quotes.",
            facts->failure.line);
    return NULL;
}
