#include "server/tools/hints/pip_line.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"

#include <string.h>

enum { PIP_LINE_PACKAGES = 50 }; /* more are no list that a model would write again */

/* Options without a value, which mean nothing to a new environment. */
static bool pip_line_is_harmless(const char *option)
{
    static const char *const options[] = {
        "-q",
        "-qq",
        "-U",
        "--quiet",
        "--upgrade",
        "--user",
        "--no-cache-dir",
        "--no-input",
        "--break-system-packages",
        "--disable-pip-version-check",
    };

    for (size_t i = 0; i < ARRAY_SIZE(options); i++)
        if (strcmp(option, options[i]) == 0)
            return true;
    return false;
}

/* A name with extras and versions: no character has a meaning for a shell, and the word is no path
 * or option for an installer. */
static bool pip_line_is_package(const char *word)
{
    return *word != '.' && word[strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                             "0123456789._-[],<>=!~")] == '\0';
}

/* The next word of the text at *REST, which is cut there; NULL at the end. */
static char *pip_line_word(char **rest)
{
    char *word;

    do
        word = strsep(rest, " \t");
    while (word && !*word);
    return word;
}

static bool pip_line_has_words(char **rest, const char *const *words)
{
    for (size_t i = 0; words[i]; i++) {
        const char *word = pip_line_word(rest);

        if (!word || strcmp(word, words[i]) != 0)
            return false;
    }
    return true;
}

/* Moves over the command up to "install". */
static bool pip_line_is_command(const char *program, char **rest)
{
    static const char *const install[] = {"install", NULL};
    static const char *const module[] = {"-m", "pip", "install", NULL};

    if (!program)
        return false;
    if (strcmp(program, "pip") == 0 || strcmp(program, "pip3") == 0)
        return pip_line_has_words(rest, install);
    return (strcmp(program, "python") == 0 || strcmp(program, "python3") == 0) &&
           pip_line_has_words(rest, module);
}

/* WORD without quotes around it; in place. */
static char *pip_line_unquote(char *word)
{
    const size_t length = strlen(word);

    if (length < 2 || (*word != '"' && *word != '\'') || word[length - 1] != *word)
        return word;
    word[length - 1] = '\0';
    return word + 1;
}

static json_t *pip_line_packages(char **rest)
{
    json_t *packages = json_array();
    char *word;

    while ((word = pip_line_word(rest))) {
        const char *bare = pip_line_unquote(word);

        if (pip_line_is_harmless(bare))
            continue;
        if (*bare == '-' || !pip_line_is_package(bare) ||
            json_array_size(packages) == PIP_LINE_PACKAGES) {
            json_decref(packages);
            return NULL;
        }
        json_array_append_new(packages, json_string(bare));
    }
    return packages;
}

bool pip_line_read(const struct python_line *line, json_t **ret)
{
    AUTO_FREE char *text = memory_format("%.*s", (int)line->length, line->text);
    char *rest = text + 1;
    const char *program;

    *ret = NULL;
    if (*text != '!' && *text != '%')
        return false;
    program = pip_line_word(&rest);
    if (!pip_line_is_command(program, &rest))
        return false;
    *ret = pip_line_packages(&rest);
    return true;
}
